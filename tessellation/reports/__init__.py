"""Reports (watching): what a tessellation, a server, a picture and a verification have to say of themselves."""
