package metrics

var (
	buildInfo = Row{
		"stoa_build_info", Gauge, []string{"version", "goversion"},
		"1; the labels name the running version.",
	}
	checkPassing = Row{
		"stoa_check_passing", Gauge, []string{"check"},
		"1 where a check of /readyz passes, 0 where it fails.",
	}
	probeFailed = Row{
		"stoa_database_probe_failed", Gauge, nil,
		"1 where the figures that are read from the database could not be read in time; they are left out then.",
	}
	probeSeconds = Row{
		"stoa_database_probe_seconds", Gauge, nil,
		"What the last reading of those figures took.",
	}
	clusterPrivate = Row{
		"stoa_private_cluster", Gauge, nil,
		"1 where this process keeps the private database alive, 0 if another program runs the database.",
	}
	processDomain = Domain{
		"Process", "Of one process. Beside these there are `go_*`, `process_*`, `promhttp_*` and, for the pool of database connections, `go_sql_*`.",
		[]Row{buildInfo, checkPassing, probeFailed, probeSeconds, clusterPrivate},
	}
)

// PrivateCluster says whether this process keeps its own database alive.
func (m *Metrics) PrivateCluster(is bool) {
	clusterPrivate.gauges(m.registry).WithLabelValues().Set(flag(is))
}
