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

// replica is one that is watched.
type replica struct {
	*readpool.Replica
	cancel  context.CancelFunc
	watched chan struct{}
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
	ctx, cancel := context.WithCancel(context.Background())
	p.replica = &replica{cancel: cancel, watched: make(chan struct{}), Replica: &readpool.Replica{
		DB: pool, MaxLag: p.settings.DatabaseReplicaMaxLag, Metrics: p.metrics, Logger: p.log,
	}}
	go func() {
		p.replica.Watch(ctx, p.db)
		close(p.replica.watched)
	}()
	return nil
}

// readReplica is the replica as the domains use it.
func (p *process) readReplica() *readpool.Replica {
	if p.replica == nil {
		return nil
	}
	return p.replica.Replica
}

// replicaStatus is shown by /readyz on the operator listener.
func (p *process) replicaStatus() any {
	if p.replica == nil {
		return nil
	}
	return p.replica.Status()
}

func (r *replica) stop() error {
	r.cancel()
	<-r.watched
	return r.DB.Close()
}
