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
	"go.opentelemetry.io/otel/trace"

	"stoa/graph/platform/metrics"
	"stoa/graph/platform/tracing"
)

// The variables that switch traces on and off; they and all others of OpenTelemetry are read by its SDK.
const (
	otlpEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	otlpTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	otelDisabled       = "OTEL_SDK_DISABLED"
	otelExporter       = "OTEL_TRACES_EXPORTER"
)

// tracesAsked tells whether the environment names a place for traces.
func tracesAsked() bool {
	if strings.EqualFold(os.Getenv(otelDisabled), "true") || os.Getenv(otelExporter) == "none" {
		return false
	}
	return os.Getenv(otlpEndpoint) != "" || os.Getenv(otlpTracesEndpoint) != ""
}

// traces sends spans to a collector, in batches and in the background. The nil value is of a process that makes none.
type traces struct{ provider *sdk.TracerProvider }

// openTraces connects to nothing yet: a collector that is away costs its spans and a warning.
func openTraces(ctx context.Context, log *slog.Logger) (*traces, error) {
	if !tracesAsked() {
		return nil, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "stoa"), attribute.String("service.version", versionText())),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces are lost", "error", err) }))
	return &traces{sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))}, nil
}

// openTelemetry makes what the process tells of itself ready to be told.
func (p *process) openTelemetry(ctx context.Context) (err error) {
	p.metrics = metrics.New(versionText())
	if p.traces, err = openTraces(ctx, p.log); p.traces != nil {
		p.log = slog.New(tracing.Logs(p.log.Handler()))
	}
	return err
}

// tracer begins traces; nil where none are wanted.
func (t *traces) tracer() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer(tracing.Scope)
}

// finish sends what is left until ctx ends.
func (t *traces) finish(ctx context.Context) error { return t.provider.Shutdown(ctx) }
