"""One module per verb of the command line: HELP, add_arguments(parser), run(args)."""
