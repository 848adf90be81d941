package main

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"stoa/graph/server"
	"stoa/jobs/inspection"
	"stoa/rest"
)

// firstInspector is what starting the first inspecting child may take; it is tried again by the first upload anyway.
const firstInspector = time.Minute

// inspections are the inspecting children of a process with the role jobs, and what confines them. The zero value has none.
type inspections struct {
	inspector *inspection.Inspector
	measures  atomic.Pointer[[]inspection.Measure]
	cancel    context.CancelFunc
	looking   sync.WaitGroup
}

// open starts the first child, and says in the log what confines it once it is there.
func (i *inspections) open(ctx context.Context, log *slog.Logger) {
	i.inspector = inspection.NewInspector()
	ctx, i.cancel = context.WithTimeout(context.WithoutCancel(ctx), firstInspector)
	i.looking.Go(func() {
		measures, err := i.inspector.Confinement(ctx)
		if err != nil {
			log.Error("files cannot be inspected", "error", err)
			return
		}
		i.measures.Store(&measures)
		tell(log, measures)
	})
}

// tell logs one line: at level info when every measure holds, else as a warning.
func tell(log *slog.Logger, measures []inspection.Measure) {
	level, text := slog.LevelInfo, "inspection of files is confined"
	attributes := make([]any, 0, 2*len(measures))
	for _, m := range measures {
		detail := m.Detail
		if !m.Holds {
			level, text = slog.LevelWarn, "inspection of files is confined in part"
			detail = "missing: " + detail
		}
		attributes = append(attributes, m.Name, detail)
	}
	log.Log(context.Background(), level, text, attributes...)
}

// close ends the child that waits for a file.
func (i *inspections) close() error {
	if i.inspector == nil {
		return nil
	}
	i.cancel()
	i.looking.Wait()
	return i.inspector.Close()
}

// confinement is what /readyz on the operator listener shows, or nil where nothing is known.
func (i *inspections) confinement() any {
	if measures := i.measures.Load(); measures != nil {
		return *measures
	}
	return nil
}

// readiness is /readyz on the operator listener: as on the public one, and what confines the inspection of files.
func (p *process) readiness() server.Mount {
	c := rest.Config{
		Logger: p.log, Draining: &p.draining, Checks: p.checks(), Confinement: p.inspections.confinement,
	}
	return server.Mount{
		Path: "/readyz", Title: "Readiness", About: "What this process needs to be ready, and what confines the inspection of files.",
		Open: true, Handler: rest.New(c),
	}
}
