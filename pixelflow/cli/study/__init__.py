"""The command ``study``: what guesses, schedules, supply, sampling, division of labour and sizes are worth."""
