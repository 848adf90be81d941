package main

import (
	"context"

	"stoa/graph"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/metrics"
	"stoa/jobs"
)

// registerMetrics adds to /metrics what needs the database.
func (p *process) registerMetrics(domains *graph.Graph) {
	p.metrics.Pool(p.db.SQL)
	p.metrics.Probe(domains.Events.Metrics, domains.Attachments.Metrics, jobs.Metrics(p.db.SQL),
		domains.Email.Metrics, domains.Webhooks.Metrics, domains.Wallet.Metrics, domains.KeyLog.Metrics,
		p.backupMetrics)
	p.metrics.Sockets(p.sockets.Stats)
	p.metrics.PrivateCluster(p.private != nil)
	for _, limit := range []limits.Limit{
		limits.Mutations, limits.ContactRequests, limits.Messages, limits.RegistrationsPerAddress, limits.Registrations,
		limits.Searches,
	} {
		p.metrics.Limits.Expect(limit.Name)
	}
	checks := make(map[string]metrics.Check)
	for name, check := range p.readinessChecks() {
		checks[name] = metrics.Check(check)
	}
	checks["database"], checks[newConnectionsCheck] = p.db.Ping, p.newConnections.Check
	p.metrics.Checks(checks)
}

func (p *process) backupMetrics(context.Context) ([]metrics.Value, error) {
	made, damaged := metrics.Value{Row: metrics.BackupMade}, metrics.Value{Row: metrics.BackupDamagedFiles}
	all, err := p.backups().List()
	if err == nil && len(all) > 0 {
		last := all[len(all)-1]
		made.Value, damaged.Value = float64(last.MadeAt.Unix()), float64(last.Repaired)
	}
	return []metrics.Value{made, damaged}, err
}
