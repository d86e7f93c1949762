"""Reports (watching): what a tessellation, a server and a picture have to say of themselves."""
