"""Claims (watching): those of Seiler et al. 2008 next to what is measured here; no model reads the printed figures."""
