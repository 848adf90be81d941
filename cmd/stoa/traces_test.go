package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"stoa/graph/graphtest"
)

// message holds the fields of a protocol buffer by their numbers; fields that are numbers themselves are left out.
type message map[uint64][][]byte

func parseMessage(raw []byte) message {
	m := make(message)
	number := func() uint64 {
		n, size := binary.Uvarint(raw)
		raw = raw[max(size, 0):]
		return n
	}
	for len(raw) > 0 {
		switch tag := number(); tag & 7 {
		case 0:
			number()
		case 1:
			raw = raw[8:]
		case 2:
			size := number()
			m[tag>>3], raw = append(m[tag>>3], raw[:size]), raw[size:]
		case 5:
			raw = raw[4:]
		}
	}
	return m
}

// all returns the messages in a field.
func (m message) all(field uint64) (messages []message) {
	for _, raw := range m[field] {
		messages = append(messages, parseMessage(raw))
	}
	return messages
}

func (m message) text(field uint64) string { return string(bytes.Join(m[field], nil)) }

// attributes reads the attributes in a field whose values are texts.
func (m message) attributes(field uint64) map[string]string {
	texts := make(map[string]string)
	for _, a := range m.all(field) {
		texts[a.text(1)] = a.all(2)[0].text(1)
	}
	return texts
}

// sentSpan is a part of a trace (opentelemetry/proto/trace/v1).
type sentSpan struct {
	trace, id, parent, name string
	attributes              map[string]string
}

// collectorServer is an OTLP collector of traces.
type collectorServer struct {
	mu    sync.Mutex
	spans []sentSpan
	raw   bytes.Buffer
	// attributes are the attributes of the resource that sent the spans.
	attributes map[string]string
}

func newCollectorServer(t testing.TB) (*collectorServer, string) {
	t.Helper()
	r := &collectorServer{attributes: make(map[string]string)}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return r, server.URL
}

func (r *collectorServer) ServeHTTP(_ http.ResponseWriter, request *http.Request) {
	raw, err := io.ReadAll(request.Body)
	if err != nil || request.URL.Path != "/v1/traces" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.raw.Write(raw)
	for _, of := range parseMessage(raw).all(1) {
		maps.Copy(r.attributes, of.all(1)[0].attributes(1))
		for _, scope := range of.all(2) {
			for _, s := range scope.all(2) {
				r.spans = append(r.spans, sentSpan{s.text(1), s.text(2), s.text(4), s.text(5), s.attributes(9)})
			}
		}
	}
}

func (r *collectorServer) all() []sentSpan {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.spans)
}

// find returns the first span with a name, below parent unless it is nil.
func (r *collectorServer) find(name string, parent *sentSpan) *sentSpan {
	for _, s := range r.all() {
		if s.name == name && (parent == nil || s.parent == parent.id) {
			return &s
		}
	}
	return nil
}

// One upload is one trace: the request, the method, its statements, and the job that it enqueued. The shutdown sends the
// remaining spans.
func TestUploadIsOneTrace(t *testing.T) {
	t.Parallel()
	collected, endpoint := newCollectorServer(t)
	s := startServer(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t), "OTEL_EXPORTER_OTLP_ENDPOINT="+endpoint,
		"OTEL_BSP_SCHEDULE_DELAY=600000", "OTEL_RESOURCE_ATTRIBUTES=deployment.environment=test")
	ada := s.join("Ada", "ada")
	s.uploadImage(ada, "portfolio")
	request := s.request(http.MethodGet, s.url+"/api/v1/wallet", ada.Token(), "", nil)
	request.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	request.Header.Set("X-Request-Id", "a-request")
	s.do(request)
	s.queryOperator("{settings{feeBps}}")
	require.Empty(t, collected.all(), "spans go in batches")
	s.stop()

	upload := collected.find("POST /api/v1/attachments", nil)
	require.NotNil(t, upload)
	method := collected.find("attachments.UploadAttachment", upload)
	require.NotNil(t, method)
	require.NotNil(t, collected.find("SQL INSERT", method))
	require.NotNil(t, collected.find("SQL COMMIT", method))
	require.NotNil(t, collected.find("SQL SELECT", upload), "admission")
	job := collected.find("job inspect", method)
	require.NotNil(t, job)
	require.Equal(t, upload.trace, job.trace)
	require.NotNil(t, collected.find("inspection.Inspect", job))
	require.NotNil(t, collected.find("SQL UPDATE", job))
	root := collected.find("query settings", collected.find("POST /graphql", nil))
	require.NotNil(t, root)

	wallet := collected.find("GET /api/v1/wallet", nil)
	require.Equal(t, "0af7651916cd43dd8448eb211c80319c", hex.EncodeToString([]byte(wallet.trace)))
	require.Equal(t, "b7ad6b7169203331", hex.EncodeToString([]byte(wallet.parent)))
	require.Equal(t, "a-request", wallet.attributes["stoa.request_id"])
	require.Nil(t, collected.find("job deliver", nil), "nobody asked for it")
	require.Equal(t, "stoa", collected.attributes["service.name"])
	require.Equal(t, "test", collected.attributes["deployment.environment"])
	for _, secret := range []string{ada.Token(), ada.keys.Public(), "ada"} {
		require.NotContains(t, strings.ToLower(collected.raw.String()), `"`+strings.ToLower(secret)+`"`)
		require.False(t, len(secret) > 5 && strings.Contains(collected.raw.String(), secret))
	}
}

// A collector that hangs does not hold up the shutdown.
func TestHangingCollector(t *testing.T) {
	t.Parallel()
	hung := make(chan struct{})
	collecting := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hung }))
	t.Cleanup(collecting.Close)
	t.Cleanup(func() { close(hung) })
	s := startServer(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t), "OTEL_BSP_SCHEDULE_DELAY=600000", // nothing is sent before the end
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+collecting.URL+"/v1/traces")
	s.signal(syscall.SIGTERM)
	eventually(t, func() bool { // the server has spans left at the end, even after its wait for load balancers
		response, err := http.Get(s.url + "/api/v1/wallet")
		return err != nil || response.Body.Close() != nil
	}, "it does not end")
	require.Zero(t, s.waitExit())
	s.waitForLog("the last spans are lost")
}

func TestTracesEnabled(t *testing.T) {
	for name, c := range map[string]struct {
		set  map[string]string
		want bool
	}{
		"nothing":         {nil, false},
		"an endpoint":     {map[string]string{otlpEndpoint: "http://h:4318"}, true},
		"for traces only": {map[string]string{otlpTracesEndpoint: "http://h:4318/v1/traces"}, true},
		"disabled":        {map[string]string{otlpEndpoint: "http://h:4318", otelDisabled: "True"}, false},
		"no exporter":     {map[string]string{otlpEndpoint: "http://h:4318", otelExporter: "none"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{otlpEndpoint, otlpTracesEndpoint, otelDisabled, otelExporter} {
				t.Setenv(variable, c.set[variable])
			}
			require.Equal(t, c.want, tracesEnabled())
			opened := graphtest.Got(openTraces(t.Context(), nil))(t)
			require.Equal(t, c.want, opened != nil)
			if opened != nil {
				require.NoError(t, opened.Shutdown(t.Context()))
			}
		})
	}
}

// After many large answers with hidden characters the process has grown by at most 100 MiB. The test has a separate server,
// because only root can reset the peak of a server's memory.
func TestToolsNeedLittleMemory(t *testing.T) {
	t.Parallel()
	w, s := ownServer(t)
	readers := make([]*graphtest.Agent, 6)
	for i := range readers {
		readers[i] = w.Agent()
	}
	status := func(name string) (kib int) {
		_, after, _ := strings.Cut(readFile(t, fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid)), name+":")
		graphtest.OK(t)(fmt.Sscan(after, &kib))
		return kib
	}
	read := func(as *graphtest.Agent) (int, error) {
		const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_posts","arguments":{"page_size":50}}}`
		request := s.request(http.MethodPost, s.url+"/mcp", as.Token, "application/json", []byte(call))
		request.Header.Set("Accept", "application/json, text/event-stream")
		request.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, err
		}
		defer response.Body.Close()
		size, err := io.Copy(io.Discard, response.Body)
		if err == nil && (response.StatusCode != http.StatusOK || size > 1<<20) {
			err = fmt.Errorf("%s, %d bytes", response.Status, size)
		}
		return int(size), err
	}
	author := w.Agent()
	w.Show(author, true)
	for range 50 {
		w.Posted(author, "x"+strings.Repeat("\u200b漢", 3999)+"x", "public")
	}
	_, err := read(readers[0]) // this loads data that are made once
	require.NoError(t, err)
	before := status("VmHWM")
	var calls errgroup.Group
	for i := range 24 {
		calls.Go(func() error { return graphtest.Err(read(readers[i%len(readers)])) })
	}
	require.NoError(t, calls.Wait())
	grown := (status("VmHWM") - before) >> 10
	t.Logf("24 calls for 50 posts of 8,000 characters: %d MiB", grown)
	require.Less(t, grown, 100)
}
