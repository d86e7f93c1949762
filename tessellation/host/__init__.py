"""The work of the application and the GPs: sessions of passes, the manager of patches, the server, the ledger."""
