"""Arguments and exit codes; stdout is data, stderr is talk."""
