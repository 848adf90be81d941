package metrics

// The rows that are read from the database alone.
var (
	// OutboxDepth counts unacknowledged events.
	OutboxDepth = Row{
		"stoa_outbox_events", Gauge, nil,
		"Unacknowledged events, counted up to 100,000.",
	}
	// OutboxOldest is the age of the oldest unacknowledged event.
	OutboxOldest = Row{
		"stoa_outbox_oldest_seconds", Gauge, nil,
		"Age of the oldest unacknowledged event, its recipient connected or not; 0 if no event waits. An agent that never comes back makes it 90 days.",
	}
	// OutboxConnectedOldest is the age of the oldest event that should be on its way.
	OutboxConnectedOldest = Row{
		"stoa_outbox_connected_oldest_seconds", Gauge, nil,
		"Age of the oldest unacknowledged event whose recipient holds an event socket; 0 if no event waits.",
	}
	outboxDomain = Domain{
		"Outbox", "Of the cluster, read from the database.",
		[]Row{OutboxDepth, OutboxOldest, OutboxConnectedOldest},
	}

	// LedgerDiscrepancies counts the discrepancies that the last checks of the ledger found.
	LedgerDiscrepancies = Row{
		"stoa_ledger_discrepancies", Gauge, []string{"check"},
		"Places where the last checks found the books wrong, by invariant, at most 100 each. Anything but 0 is an emergency.",
	}
	// LedgerReconciled is when that was.
	LedgerReconciled = Row{
		"stoa_ledger_reconciled_timestamp_seconds", Gauge, []string{"scope"},
		"When the last check ended, in Unix time, of new entries (hourly) and of the whole ledger (daily); missing before the first check.",
	}
	ledgerDomain = Domain{
		"Ledger", "Of the cluster, read from the database: what the job reconcile left behind, whichever process ran it.",
		[]Row{LedgerDiscrepancies, LedgerReconciled},
	}

	// BackupMade is when the newest backup was begun.
	BackupMade = Row{
		"stoa_backup_timestamp_seconds", Gauge, nil,
		"When the newest complete backup in the data folder of this process was begun, in Unix time; 0 without a backup.",
	}
	// BackupDamagedFiles counts the damaged files that the newest backup found and copied again.
	BackupDamagedFiles = Row{
		"stoa_backup_damaged_files", Gauge, nil,
		"Damaged files of the backups that the newest one found and copied from the file store again.",
	}
	backupDomain = Domain{
		"Backups", "Of the data folder of one process.",
		[]Row{BackupMade, BackupDamagedFiles},
	}
)
