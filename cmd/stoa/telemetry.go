package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"golang.org/x/sys/unix"

	"stoa/graph"
	"stoa/graph/operator"
	"stoa/graph/platform/db"
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

// These variables of OpenTelemetry switch traces on and off. Its SDK reads them and all others.
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

// healthCommand asks a server on this machine how it is, for containers and scripts.
type healthCommand struct {
	listenSettings

	Ready   bool          `env:"-" help:"Ask whether it is ready to serve (/readyz) instead of whether it lives (/healthz)."`
	Timeout time.Duration `env:"-" default:"5s" help:"How long an answer may take."`
}

// maxHealthAnswer is the number of bytes of an answer that are printed.
const maxHealthAnswer = 4 << 10

func (c healthCommand) Validate() error { return checkAddress("listen", c.Listen) }

// Run prints the answer. It returns an error unless that is 200.
func (c healthCommand) Run(out io.Writer) error {
	path := "/healthz"
	if c.Ready {
		path = "/readyz"
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.Timeout)
	defer cancel()
	body, err := askHealth(ctx, c.Listen, path)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, body)
	return err
}

// askHealth asks a listener of this machine. An address without a host, or with a wildcard host, means the loopback. No proxy of
// the environment is used. An answer other than 200 is an error.
func askHealth(ctx context.Context, address, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return "", err
	}
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxHealthAnswer))
	body := strings.TrimSpace(string(text))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %d: %s", path, response.StatusCode, body)
	}
	return body, err
}

// Notifications to systemd, by the protocol of sd_notify(3). Without NOTIFY_SOCKET none are sent.

// extendStart is the further time for a start, sent every extendEvery while there is progress.
const (
	extendStart = 30 * time.Second
	extendEvery = 10 * time.Second
)

// notifySystemd passes on assignments such as READY=1, one a line.
func notifySystemd(log *slog.Logger, state string) {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err == nil {
		_, err = conn.Write([]byte(state))
		err = errors.Join(err, conn.Close())
	}
	if err != nil {
		log.Warn("systemd was not told", "error", err)
	}
}

// whileStarting lets work take longer than systemd allows for a start. It is for work that ends by itself, such as migrations,
// and not for the wait for a database.
func whileStarting(log *slog.Logger, work func() error) error {
	ctx, done := context.WithCancel(context.Background())
	defer done()
	go every(ctx, extendEvery, func() {
		notifySystemd(log, "EXTEND_TIMEOUT_USEC="+strconv.FormatInt(extendStart.Microseconds(), 10))
	})
	return work()
}

// every calls do now and after each interval, until ctx ends.
func every(ctx context.Context, interval time.Duration, do func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		do()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// feedWatchdog notifies systemd twice in each of its intervals while the process works, until ctx ends. It does nothing if the
// unit has no watchdog.
func (p *process) feedWatchdog(ctx context.Context) {
	set, pid := os.Getenv("WATCHDOG_USEC"), os.Getenv("WATCHDOG_PID")
	if set == "" || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return
	}
	interval, err := time.ParseDuration(set + "us")
	if err != nil || interval <= 0 {
		p.log.Warn("the watchdog's interval is not understood", "interval", set)
		return
	}
	every(ctx, interval/2, func() {
		if err := p.works(ctx, interval/2); err != nil {
			p.log.Error("the watchdog is not told that this process works", "error", err)
		} else {
			notifySystemd(p.log, "WATCHDOG=1")
		}
	})
}

// works returns an error if a restart would help: the process does not answer, or its jobs have stopped. A restart does not help
// if the database or the file store is away, which /readyz reports as well. The operator listener is asked, since agents cannot
// fill its connections.
func (p *process) works(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if _, err := askHealth(ctx, p.operator.Address(), "/healthz"); err != nil {
		return err
	}
	return p.checkJobs(ctx)
}

const (
	// newConnectionsCheck is the check for db.ErrRefusesConnections in the overview and the metrics; select_attention knows it.
	newConnectionsCheck = "new_connections"
	// heartbeatPeriod is the interval at which a process reports itself, for the operators' overview (§10).
	heartbeatPeriod = 10 * time.Second
	// heartbeatTimeout bounds one report, including its checks.
	heartbeatTimeout = 5 * time.Second
	// heartbeatEnd bounds each of the two steps of its end.
	heartbeatEnd = 500 * time.Millisecond
)

// startHeartbeat reports this process to the database until its end, which removes the report.
func (p *process) startHeartbeat(domains *graph.Graph) {
	id, checks := uuid.Must(uuid.NewV7()), p.readinessChecks()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		every(ctx, heartbeatPeriod, func() { p.beat(ctx, domains, id, checks) })
	}()
	p.atEnd(func(end context.Context) error {
		cancel()
		select {
		case <-ended:
		case <-time.After(heartbeatEnd): // a database that neither answers nor closes the connection
		}
		end, cancel := context.WithTimeout(end, heartbeatEnd)
		defer cancel()
		_ = domains.Operator.ForgetProcess(end, id) // a remaining row is deleted after a day
		return nil
	})
}

// beat reports once. It ignores errors of the database, which other checks report.
func (p *process) beat(ctx context.Context, domains *graph.Graph, id uuid.UUID, checks metrics.Checks) {
	ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	host, _ := os.Hostname()
	told := operator.Process{
		ID: id, Name: fmt.Sprintf("%s:%d", cmp.Or(host, "unknown"), os.Getpid()), Version: versionText(), Roles: p.settings.Roles, Failing: p.failing(ctx, checks),
	}
	told.DiskFreeBytes, told.DiskTotalBytes = diskSpace(p.settings.DataDir)
	if err := domains.Operator.RecordProcess(ctx, told); err != nil && ctx.Err() == nil {
		p.log.WarnContext(ctx, "the operators' overview may be out of date", "error", err)
	}
}

// failing returns the names of the readiness checks that fail, sorted.
func (p *process) failing(ctx context.Context, checks metrics.Checks) []string {
	failing := []string{}
	for name, err := range checks.Run(ctx) {
		if errors.Is(err, db.ErrRefusesConnections) {
			failing = append(failing, newConnectionsCheck)
		} else if err != nil {
			failing = append(failing, name)
		}
	}
	if p.draining.Load() {
		failing = append(failing, "shutting_down")
	}
	slices.Sort(failing)
	return failing
}

// diskSpace returns the free bytes for this process on the disk of a folder, and the disk's size; zeros if they are unknown.
func diskSpace(folder string) (free, total int64) {
	var found unix.Statfs_t
	if err := unix.Statfs(folder, &found); err != nil {
		return 0, 0
	}
	return int64(found.Bavail) * found.Bsize, int64(found.Blocks) * found.Bsize
}
