package main

import (
	"context"
	"net/http"
	"net/http/pprof" // it also registers with http.DefaultServeMux, which nothing here serves

	"stoa/cmd/stoa/backup"
	"stoa/graph"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/metrics"
	"stoa/graph/server"
	"stoa/jobs"
)

const (
	metricsPath  = "/metrics"
	profilesPath = "/debug/pprof"
	// profilesPolicy lets the list of profiles keep its looks.
	profilesPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
)

// measure adds to /metrics what is there once the database is.
func (p *process) measure(domains *graph.Graph) {
	p.metrics.Pool(p.db.SQL)
	p.metrics.Probe(domains.Events.OutboxMetrics, domains.Attachments.InspectionFigures, jobs.Figures(p.db.SQL),
		domains.Wallet.LedgerFigures, p.backupFigures)
	p.metrics.Sockets(p.socketFigures)
	p.metrics.PrivateCluster(p.private != nil)
	for _, limit := range []limits.Limit{
		limits.Mutations, limits.ContactRequests, limits.Messages, limits.RegistrationsPerAddress, limits.Registrations, limits.Searches,
	} {
		p.metrics.Limits.Expect(limit.Name)
	}
	checks := make(map[string]metrics.Check)
	for name, check := range p.checks() {
		checks[name] = metrics.Check(check)
	}
	p.metrics.Checks(checks)
}

func (p *process) backupFigures(context.Context) ([]metrics.Value, error) {
	made, damaged := metrics.Value{Row: metrics.BackupMade}, metrics.Value{Row: metrics.BackupDamagedFiles}
	all, err := p.backups().List()
	if err == nil && len(all) > 0 {
		made.Value = float64(all[len(all)-1].MadeAt.Unix())
		var found []backup.Damage
		found, err = p.backups().Damaged()
		damaged.Value = float64(len(found))
	}
	return []metrics.Value{made, damaged}, err
}

func (p *process) socketFigures() metrics.Sockets {
	s := p.sockets.Stats()
	return metrics.Sockets{
		Open: s.Open, Limit: p.settings.Limit.Sockets, Processes: s.Processes, Opened: s.Opened, Closed: s.Closed,
		Delivered: s.Delivered, Acknowledged: s.Acknowledged, Heard: s.Heard, Linked: s.Linked,
	}
}

// figures are the mounts by which the operator listener shows what the process does.
func (p *process) figures() []server.Mount {
	return []server.Mount{
		{
			Path: metricsPath, Title: "Metrics", About: "Figures for Prometheus; this page alone needs no token.",
			Open: true, Handler: p.metrics.Handler(),
		},
		{
			Path: profilesPath, Title: "Profiles", About: "Where time and memory go, for go tool pprof.",
			Policy: profilesPolicy, Handler: profiles(),
		},
	}
}

// profiles leaves out the command line, which may hold a password.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(profilesPath, http.RedirectHandler(profilesPath+"/", http.StatusFound)) // the list's links are relative
	mux.HandleFunc(profilesPath+"/", pprof.Index)
	mux.HandleFunc(profilesPath+"/cmdline", http.NotFound)
	mux.HandleFunc(profilesPath+"/profile", pprof.Profile)
	mux.HandleFunc(profilesPath+"/symbol", pprof.Symbol)
	mux.HandleFunc(profilesPath+"/trace", pprof.Trace)
	return mux
}

// early is the operator listener before the database answers: metrics, and whatever next says to the rest.
func (p *process) early(next http.Handler) http.Handler {
	shown := p.metrics.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == metricsPath {
			shown.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
