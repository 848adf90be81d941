package metrics

// The rows about the key log.
var (
	// LogBehind is 1 while this process signs no head.
	LogBehind = Row{
		"stoa_log_behind", Gauge, nil,
		"1 while this process signs no head of the key log, because the database's does not continue one that was signed; else 0.",
	}
	// LogForked is 1 if that is not because the database lacks entries.
	LogForked = Row{
		"stoa_log_forked", Gauge, nil,
		"1 while the key log in the database holds other entries than one that was signed; else 0. Then stoa_log_behind is 1, too.",
	}
	// LogEntries is the size of the log.
	LogEntries = Row{"stoa_log_entries", Gauge, nil, "Entries of the key log in its present epoch."}
	// LogWaiting counts what is to be appended.
	LogWaiting = Row{"stoa_log_waiting", Gauge, nil, "Entries that wait to be appended to the key log, counted up to 100,000."}

	logDomain = Domain{
		"Key log", "Of the cluster, read from the database; what was signed is known from the data folder and memory of one process.",
		[]Row{LogBehind, LogForked, LogEntries, LogWaiting},
	}
)
