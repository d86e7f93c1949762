"""Commands that put published figures beside measured ones."""
