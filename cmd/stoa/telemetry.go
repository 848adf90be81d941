package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"stoa/graph"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/tracing"
	"stoa/jobs"
)

// registerMetrics adds the metrics that need the database to /metrics.
func (p *process) registerMetrics(domains *graph.Graph) {
	p.metrics.Pool(p.db.SQL.Pool)
	p.metrics.Probe(domains.Events.Metrics, domains.Attachments.Metrics, jobs.Metrics(p.db.SQL),
		domains.Email.Metrics, domains.Webhooks.Metrics, domains.Wallet.Metrics, domains.KeyLog.Metrics,
		p.backupMetrics)
	p.metrics.Show(p.sockets.Figures)
	p.metrics.Show(func() []metrics.Value {
		return []metrics.Value{{Name: "stoa_private_cluster", Value: metrics.Flag(p.private != nil)}}
	})
	for _, limit := range []limits.Limit{
		limits.Mutations, limits.ContactRequests, limits.Messages, limits.RegistrationsPerAddress, limits.Registrations,
		limits.Searches,
	} {
		p.metrics.Limits.Expect(limit.Name)
	}
	p.metrics.Checks(p.metricChecks())
}

// metricChecks returns the checks of /readyz, with a separate check of new connections to the database.
func (p *process) metricChecks() metrics.Checks {
	checks := p.readinessChecks()
	checks["database"], checks[newConnectionsCheck] = p.db.Ping, p.newConnections.Check
	return checks
}

func (p *process) backupMetrics(context.Context) ([]metrics.Value, error) {
	made, damaged := metrics.Value{Name: "stoa_backup_timestamp_seconds"}, metrics.Value{Name: "stoa_backup_damaged_files"}
	all, err := p.backups().List()
	if err == nil && len(all) > 0 {
		last := all[len(all)-1]
		made.Value, damaged.Value = float64(last.MadeAt.Unix()), float64(last.Repaired)
	}
	return []metrics.Value{made, damaged}, err
}

// The variables of OpenTelemetry that switch traces on and off. Its SDK reads them and all others.
const (
	otlpEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	otlpTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	otelDisabled       = "OTEL_SDK_DISABLED"
	otelExporter       = "OTEL_TRACES_EXPORTER"
)

// tracesEnabled reports whether the environment names a collector.
func tracesEnabled() bool {
	if strings.EqualFold(os.Getenv(otelDisabled), "true") || os.Getenv(otelExporter) == "none" {
		return false
	}
	return os.Getenv(otlpEndpoint) != "" || os.Getenv(otlpTracesEndpoint) != ""
}

// openTraces returns the provider of spans, which sends them to a collector in batches and in the background; nil if traces are off.
// It does not connect yet: if the collector is away, spans are lost with a warning.
func openTraces(ctx context.Context, log *slog.Logger) (*sdk.TracerProvider, error) {
	if !tracesEnabled() {
		return nil, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	attributes, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "stoa"), attribute.String("service.version", versionText())),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces are lost", "error", err) }))
	return sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(attributes)), nil
}

// openTelemetry opens metrics and traces, and adds trace ids to the log.
func (p *process) openTelemetry(ctx context.Context) error {
	p.metrics = metrics.New(versionText())
	provider, err := openTraces(ctx, p.log)
	if provider == nil {
		return err
	}
	p.tracer = provider.Tracer(tracing.Scope)
	p.log = slog.New(tracing.Logs(p.log.Handler()))
	p.atEnd(func(ctx context.Context) error {
		if err := withTimeout(ctx, tracesTimeout, provider.Shutdown); err != nil {
			p.log.Warn("the last spans are lost", "error", err)
		}
		return nil
	})
	return nil
}
