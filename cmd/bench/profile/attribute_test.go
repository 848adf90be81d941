package profile

import (
	"bytes"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/require"
)

// recorded writes a profile of stacks, the innermost frame first. Frames that are joined were inlined into the last of them.
func recorded(t *testing.T, stacks map[int64][][]string) *bytes.Buffer {
	t.Helper()
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: Processor, Unit: "nanoseconds"}}}
	functions := make(map[string]*profile.Function)
	for value, stack := range stacks {
		sample := &profile.Sample{Value: []int64{1, value}}
		for _, inlined := range stack {
			location := &profile.Location{ID: uint64(len(p.Location) + 1)}
			for _, name := range inlined {
				if functions[name] == nil {
					file := "other.go"
					if name == "stoa/rest.decode" {
						file = "stoa/rest/bind.go"
					}
					functions[name] = &profile.Function{ID: uint64(len(functions) + 1), Name: name, Filename: file}
					p.Function = append(p.Function, functions[name])
				}
				location.Line = append(location.Line, profile.Line{Function: functions[name]})
			}
			p.Location = append(p.Location, location)
			sample.Location = append(sample.Location, location)
		}
		p.Sample = append(p.Sample, sample)
	}
	var b bytes.Buffer
	require.NoError(t, p.Write(&b))
	return &b
}

// stack is one without inlined frames.
func stack(frames ...string) (whole [][]string) {
	for _, frame := range frames {
		whole = append(whole, []string{frame})
	}
	return whole
}

// The profiler's own samples do not count.
func TestReadAttributesToTheInnermostFrame(t *testing.T) {
	t.Parallel()
	const serve, act, query = "net/http.(*conn).serve", "stoa/graph/orders.(*API).OrderAct", "database/sql.(*DB).QueryContext"
	split, err := Read(recorded(t, map[int64][][]string{
		40: stack("syscall.write", "net.(*conn).Write", "github.com/lib/pq.(*conn).send", query, act, "stoa/rest.(*server).call", serve),
		20: stack("syscall.write", "net.(*conn).Write", serve),
		15: stack("strings.Index", act, "stoa/rest.(*server).call", serve),
		10: {{"strings.Cut", "stoa/rest.decode", "stoa/rest.(*server).call"}, {serve}},
		8:  stack("runtime.futex", "runtime.findRunnable", "runtime.schedule"),
		99: stack("runtime.mallocgc", "runtime/pprof.(*profileBuilder).build", "net/http/pprof.Profile", serve),
		7:  stack("runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker"),
	}), Processor)
	require.NoError(t, err)
	parts := Parts(split.Layers)
	for layer, want := range map[string]float64{Statement: 0.4, HTTP: 0.2, Domain: 0.15, Binding: 0.1, Scheduler: 0.08, Collector: 0.07} {
		require.InDelta(t, want, parts[layer], 1e-9, layer)
	}
	require.Len(t, split.Layers, 6)
	require.Equal(t, Statement, split.Layers[0].Name, "the largest first")
	require.Equal(t, "pq.(*conn).send", split.Layers[0].Of[0].Name, "the frame that decides")
	require.Equal(t, "syscall.write", split.Functions[0].Name)
	require.InDelta(t, 0.6, split.Functions[0].Part, 1e-9)
	require.Equal(t, []string{Statement, HTTP}, []string{split.Functions[0].Of[0].Name, split.Functions[0].Of[1].Name})
}

func TestReadOfOtherTypes(t *testing.T) {
	t.Parallel()
	_, err := Read(recorded(t, map[int64][][]string{1: stack("runtime.main")}), Objects)
	require.ErrorContains(t, err, Objects)
	_, err = Read(bytes.NewReader([]byte("no profile")), Processor)
	require.Error(t, err)
	split, err := Read(recorded(t, nil), Processor)
	require.NoError(t, err)
	require.Empty(t, split.Layers)
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for function, want := range map[string]string{
		"stoa/graph/auth.ResultFrom[go.shape.*stoa/graph/a.B]": "auth.ResultFrom[…]",
		"stoa/rest.method[go.shape.struct { x/y.Z }].func1":    "rest.method[…].func1",
		"runtime.mallocgc": "runtime.mallocgc",
	} {
		require.Equal(t, want, shorten(function), function)
	}
}
