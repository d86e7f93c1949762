"""What the application and the GPs do: sessions of passes, the manager of patches, the server, the ledger."""
