"""Commands that show the model: rules, configuration, instructions."""
