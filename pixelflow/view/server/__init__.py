"""The page's server: who may come in, what is handed out, and conversations with pages."""
