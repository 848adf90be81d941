package main

import (
	"context"
	"errors"
	"time"

	"stoa/graph/platform/db"
	"stoa/graph/platform/readpool"
)

// minReplicaLag is the least bound: with measurements every second an answer of a replica that follows may count as two seconds old.
const minReplicaLag = 3 * time.Second

// checkReplica refuses a replica of a private cluster, and a URL that lib/pq cannot read.
func (s replicaSettings) checkReplica(databaseURL string) error {
	if s.DatabaseReplicaMaxLag < minReplicaLag {
		return errors.New("--database-replica-max-lag must be at least 3s: the lag is measured every second")
	}
	if s.DatabaseReplicaURL != "" && databaseURL == "" {
		return errors.New("--database-replica-url needs --database-url: the private cluster has no standby")
	}
	return checkDatabaseURL("database-replica-url", s.DatabaseReplicaURL)
}

// openReplica begins to watch the replica, if one is set. It need not be there.
func (p *process) openReplica(options db.Options) error {
	if p.settings.DatabaseReplicaURL == "" {
		return nil
	}
	pool, err := db.Open(spreadHosts(p.settings.DatabaseReplicaURL), readpool.ReplicaOptions(options))
	if err != nil {
		return err
	}
	p.atEnd(func(context.Context) error { return pool.Close() })
	p.replica = &readpool.Replica{DB: pool, MaxLag: p.settings.DatabaseReplicaMaxLag, Metrics: p.metrics, Logger: p.log}
	p.background(func(ctx context.Context) { p.replica.Watch(ctx, p.db) })
	return nil
}

// replicaStatus is shown by /readyz on the operator listener.
func (p *process) replicaStatus() any {
	if p.replica == nil {
		return nil
	}
	return p.replica.Status()
}
