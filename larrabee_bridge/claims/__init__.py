"""Claims (watching): those of Seiler et al. 2008 beside what is found here; no model reads the printed figures."""
