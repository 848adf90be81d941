package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/graph/graphtest"
	"stoa/rest/client"
	"stoa/rest/client/keylog"
	"stoa/rest/client/keylog/keylogtest"
)

// fleet is several servers on one database, which are killed and started again while agents register and readers fetch the heads
// of the key log.
type fleet struct {
	t   *testing.T
	log note.Verifier

	mu      sync.Mutex
	changed *sync.Cond
	servers []*testServer // nil while it is away
	agents  []*testAgent
	heads   [][]keylog.Checkpoint // by server, in the order in which it answered
}

func startFleet(t *testing.T, servers int, settings ...string) *fleet {
	t.Helper()
	f := &fleet{t: t, servers: make([]*testServer, servers), heads: make([][]keylog.Checkpoint, servers)}
	f.changed = sync.NewCond(&f.mu)
	for i := range f.servers {
		f.servers[i] = startServer(t, settings...)
	}
	var err error
	f.log, err = keylog.ParseLogKey(f.servers[0].publishedLog().Vkeys[0])
	require.NoError(t, err)
	return f
}

// server waits until a server runs.
func (f *fleet) server(slot int) *testServer {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.servers[slot] == nil {
		f.changed.Wait()
	}
	return f.servers[slot]
}

// replace kills a server among requests, and starts the next one with its data folder.
func (f *fleet) replace(slot int, w *graphtest.World, settings ...string) {
	f.t.Helper()
	f.mu.Lock()
	old := f.servers[slot]
	f.servers[slot] = nil // its port may soon belong to another program
	f.mu.Unlock()
	old.kill(w)
	next := startServer(f.t, append(settings, "STOA_DATA_DIR="+old.data)...)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.servers[slot] = next
	f.changed.Broadcast()
}

// register registers an agent at a server, again if there is no answer. f.agents lacks agents whose registration was not
// answered.
func (f *fleet) register(ctx context.Context, slot int) error {
	made := f.server(slot).newAgent("Agent", "agent")
	for {
		made = made.on(f.server(slot))
		err := made.register(ctx)
		fault, answered := errors.AsType[*client.Fault](err)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && (!answered || fault.Code == "service_unavailable"):
			continue // the server was killed, or starts
		case client.HasCode(err, "handle_unavailable"):
			return nil
		case err != nil:
			return err
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.agents = append(f.agents, made)
		return nil
	}
}

// waitFor waits until that many registrations are answered.
func (f *fleet) waitFor(agents int) {
	f.t.Helper()
	for seen := f.named(); seen < agents && !f.t.Failed(); seen = f.named() {
		eventually(f.t, func() bool { return f.named() > seen || f.t.Failed() }, "no server registers an agent")
	}
}

// named counts the agents whose registration was answered.
func (f *fleet) named() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.agents)
}

// watch reads the head of a server again and again.
func (f *fleet) watch(ctx context.Context, slot int) error {
	for tick := time.Tick(20 * time.Millisecond); ctx.Err() == nil; <-tick {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.server(slot).url+"/log/1/checkpoint", nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			continue // it was killed, or the test is over
		}
		signed, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode == http.StatusServiceUnavailable || answer.StatusCode == http.StatusTooManyRequests {
			continue // killed, starting, or busy
		}
		head, err := keylog.Open(signed, f.log)
		if err != nil {
			return fmt.Errorf("%w: %s", err, signed)
		}
		f.mu.Lock()
		f.heads[slot] = append(f.heads[slot], head.Checkpoint)
		f.mu.Unlock()
	}
	return nil
}

// read reads a public path of a server.
func (f *fleet) read(slot int, path string) []byte {
	f.t.Helper()
	got := f.servers[slot].read(path)
	require.Equal(f.t, http.StatusOK, got.status, "%s: %s", path, got.raw)
	return got.raw
}

// whole reads the log by its tiles of entries.
func (f *fleet) whole(head keylog.Checkpoint) (*keylogtest.Log, []keylog.Entry) {
	f.t.Helper()
	var all []keylog.Entry
	log := keylogtest.New(head.Origin, make([]byte, 64))
	for n := int64(0); n*keylog.TileWidth < head.Size; n++ {
		width := int(min(keylog.TileWidth, head.Size-n*keylog.TileWidth))
		entries := graphtest.Got(keylog.ParseEntries(f.read(int(n)%len(f.servers), "/log/1/"+keylog.EntriesPath(n, width))))(f.t)
		require.Len(f.t, entries, width)
		all = append(all, entries...)
	}
	for _, entry := range all {
		log.Append(entry)
	}
	return log, all
}

// A thousand agents, fewer with -short, register at three servers of one database, which are killed in turn and restarted;
// unanswered registrations are repeated. Afterwards each agent has one proven entry of the log, without other entries or missing
// indexes. All heads of all servers are of this one log. No server shows a smaller head after a larger one.
func TestServersThatAreKilledKeepOneLog(t *testing.T) {
	t.Parallel()
	agents, kills := 1000, 6
	if testing.Short() {
		agents, kills = 120, 2
	}
	w := graphtest.New(t)
	settings := append([]string{"STOA_DATABASE_URL=" + w.URL}, noLimits...)
	f := startFleet(t, 3, settings...)
	require.Equal(t, strings.TrimPrefix(f.servers[0].url, "http://")+"/log/1", f.log.Name(), "the first to start has named it")

	registering, stop := context.WithCancel(t.Context())
	var busy, watching sync.WaitGroup
	for slot := range f.servers {
		watching.Go(func() { assert.NoError(t, f.watch(registering, slot)) })
		for range 4 {
			busy.Go(func() {
				for f.named() < agents && assert.NoError(t, f.register(registering, slot)) {
					continue
				}
			})
		}
	}
	for i := range kills {
		f.waitFor((i + 1) * agents / (kills + 1))
		f.replace(i%len(f.servers), w, settings...)
	}
	busy.Wait()
	eventually(t, func() bool { return w.Count("SELECT count(*) FROM log_queue") == 0 }, "the queue is not appended")
	stop()
	watching.Wait()
	require.False(t, t.Failed())

	last := graphtest.Got(keylog.Open(f.read(0, "/log/1/checkpoint"), f.log))(t)
	log, entries := f.whole(last.Checkpoint)
	require.Equal(t, last.Checkpoint, log.Head(-1), "the entries are those of the head")
	f.requireTiles(log, last.Size)
	require.GreaterOrEqual(t, len(f.agents), agents)
	f.requireAgents(w, entries, last.Size)
	for slot, heads := range f.heads {
		require.NotEmpty(t, heads)
		for i, head := range heads {
			require.Equal(t, log.Head(head.Size), head, "a head of another log, of server %d", slot)
			if i > 0 {
				require.GreaterOrEqual(t, head.Size, heads[i-1].Size, "server %d shows a smaller head after a greater one", slot)
			}
		}
	}
}

// requireTiles requires that every tile of hashes is of the log.
func (f *fleet) requireTiles(log *keylogtest.Log, size int64) {
	f.t.Helper()
	for i, tile := range tlog.NewTiles(8, 0, size) {
		wanted := graphtest.Got(tlog.ReadTileData(tile, log))(f.t)
		require.Equal(f.t, wanted, f.read(i%len(f.servers), "/log/1/tile/"+strings.TrimPrefix(tile.Path(), "tile/8/")), "%+v", tile)
	}
}

// requireAgents requires one entry for each agent, and a proof for each agent in f.agents.
func (f *fleet) requireAgents(w *graphtest.World, entries []keylog.Entry, size int64) {
	f.t.Helper()
	labels := make(map[[32]byte]int)
	for i, entry := range entries {
		if entry.Type == keylog.TypeAgent {
			require.NotContains(f.t, labels, entry.Label, "a label is there twice")
			labels[entry.Label] = i
		}
	}
	require.Len(f.t, labels, int(w.Count("SELECT count(*) FROM bots")), "an entry an agent")
	require.EqualValues(f.t, len(labels)+2, size, "and the keys of the server")
	require.Zero(f.t, w.Count("SELECT count(*) FROM bots b WHERE NOT EXISTS (SELECT FROM log_openings o WHERE o.subject_id = b.id)"))
	require.Equal(f.t, size, w.Count("SELECT count(DISTINCT index) FROM log_openings"))
	host, _, err := keylog.HostOf(f.log.Name())
	require.NoError(f.t, err)
	for i, made := range f.agents {
		slot := i % len(f.servers)
		me := graphtest.Got(made.on(f.servers[slot]).Me(f.t.Context()))(f.t)
		require.Equal(f.t, []string{made.ID, made.Handle, made.keys.Public()}, []string{me.ID, me.Handle, *me.Key})
		created := parsed[struct {
			CreatedAt string `json:"created_at"`
		}](f.t, me.JSON()).CreatedAt
		entry := keylog.Agent{ID: made.ID, Handle: made.Handle, Key: made.keys.Public(), CreatedAt: created}.Entry(host, me.KeyLog.Salt)
		require.EqualValues(f.t, labels[entry.Label], *me.KeyLog.Index)
		proof := graphtest.Got(keylog.ParseProof(f.read(slot, fmt.Sprintf("/log/1/proof/%d", *me.KeyLog.Index))))(f.t)
		require.Equal(f.t, *me.KeyLog.Index, proof.Index)
		graphtest.OK(f.t)(proof.Check(entry, f.log))
	}
}
