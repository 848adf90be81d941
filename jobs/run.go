package jobs

import (
	"context"
	"encoding/json"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"stoa/graph/platform/metrics"
	"stoa/graph/platform/tracing"
)

// observed runs a job, counts how it ended, and goes on with the trace of the request that asked for it.
func observed(ctx context.Context, c Config, job *rivertype.JobRow, do func(context.Context) error) (err error) {
	began := time.Now()
	ctx, end := tracing.Job(ctx, c.Tracer, job.Kind, carried(job))
	outcome := metrics.Failed // what a panic leaves it at, unless it was the last attempt
	if job.Attempt >= job.MaxAttempts {
		outcome = metrics.Discarded
	}
	defer func() {
		c.Metrics.Jobs.Done(job.Kind, outcome, time.Since(began))
		end(err)
	}()
	if err = do(ctx); err == nil {
		outcome = metrics.Completed
	}
	return err
}

// carried reads what asking wrote.
func carried(job *rivertype.JobRow) tracing.Carried {
	var from tracing.Carried
	if json.Unmarshal(job.Metadata, &from) != nil {
		return tracing.Carried{} // somebody else's metadata
	}
	return from
}

// asking is how a job is inserted: into its queue, and with the place of the request in its trace, if it has one.
func asking(ctx context.Context, queue string) *river.InsertOpts {
	options := &river.InsertOpts{Queue: queue}
	if from := tracing.Carry(ctx); from.Parent != "" {
		if raw, err := json.Marshal(from); err == nil {
			options.Metadata = raw
		}
	}
	return options
}
