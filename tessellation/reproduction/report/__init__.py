"""Report of a verification: rows and how they came out, text and JSON, Markdown and SVG, the curves."""
