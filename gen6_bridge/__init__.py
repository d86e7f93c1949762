"""Gen6 EU: the execution unit of Sandy Bridge's graphics on the lanes that all machines here share."""
