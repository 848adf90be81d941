package keylog_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"stoa/graph"
	"stoa/graph/graphtest"
	"stoa/graph/keylog"
	"stoa/graph/platform/slack"
	"stoa/rest/client/keylog/witness"
)

// others are the witnesses of a log, run by strangers. A test sets the answer of each by its name.
type others struct {
	mu    sync.Mutex
	names []string
	// answers holds the answers of witnesses that do not sign; shown holds the heads that witnesses claim to have signed.
	answers map[string]witness.Answer
	shown   map[string]witness.Answer
	asked   []string // witness and size
}

func (o *others) Keys() []string { return o.names }

func (o *others) Submit(ctx context.Context, to []string, signed []byte, prove witness.Prove) []witness.Answer {
	o.mu.Lock()
	defer o.mu.Unlock()
	size := strings.Split(string(signed), "\n")[1]
	made := make([]witness.Answer, len(to))
	for i, name := range to {
		o.asked = append(o.asked, name+" "+size)
		answer, refuses := o.answers[name]
		if !refuses {
			answer.Text = lineOf(name, size)
			if n, _ := strconv.ParseInt(size, 10, 64); n > 2 {
				_, answer.Err = prove(ctx, 2, n)
			}
		}
		answer.Witness = name
		made[i] = answer
	}
	return made
}

func (o *others) Heads(_ context.Context, log []string) []witness.Answer {
	o.mu.Lock()
	defer o.mu.Unlock()
	origin, _, _ := strings.Cut(log[0], "+")
	made := make([]witness.Answer, len(o.names))
	for i, name := range o.names {
		if made[i] = o.shown[name]; !strings.HasPrefix(made[i].Text, origin+"\n") {
			made[i].Text = ""
		}
		made[i].Witness = name
	}
	return made
}

// say sets the answer of a witness from now on; nil means that it signs.
func (o *others) say(name string, answer *witness.Answer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.answers, name)
	if answer != nil {
		o.answers[name] = *answer
	}
}

// lineOf returns the line of a witness; the signature is not checked here.
func lineOf(name, size string) string {
	return "— " + name + " " + base64.StdEncoding.EncodeToString([]byte("hash, signed "+size))
}

func newWitnessed(t *testing.T, names ...string) (*world, *others) {
	t.Helper()
	o := &others{names: names, answers: make(map[string]witness.Answer), shown: make(map[string]witness.Answer)}
	w := &world{graphtest.New(t, func(c *graph.Config) { c.Origin, c.Witnesses = "https://"+host, o }), t, ""}
	w.sequence()
	return w, o
}

// cosign registers agents and submits the head to the witnesses, by a process that has paused none.
func (w *world) cosign(o *others, agents int) {
	for range agents {
		w.Agent()
	}
	w.sequence()
	process := w.another("")
	process.Witnesses = o
	graphtest.OK(w.t)(process.Cosign(w.t.Context()))
}

// proof returns the size of the head that proves an entry, and the names of the witnesses below it.
func (w *world) proof(index int64) (size int64, names []string) {
	raw := graphtest.Got(w.KeyLog.Include(w.t.Context(), 1, index))(w.t)
	listed := graphtest.Got(w.KeyLog.Proofs(w.t.Context(), nil, &index))(w.t)
	require.Nil(w.t, listed[0])
	require.Equal(w.t, string(raw), *listed[1])
	top, checkpoint, _ := strings.Cut(string(raw), "\n\n")
	published := graphtest.Got(w.KeyLog.Published(w.t.Context()))(w.t)
	verifier := graphtest.Got(note.NewVerifier(published.Vkeys[0]))(w.t)
	graphtest.OK(w.t)(note.Open([]byte(checkpoint), note.VerifierList(verifier)))
	tree, err := tlog.ParseTree([]byte("go.sum database tree\n" + strings.Join(strings.Split(checkpoint, "\n")[1:3], "\n") + "\n"))
	require.NoError(w.t, err)
	entries := w.read(1).entries
	require.Equal(w.t, rootOf(w.t, entries[:tree.N]), tree.Hash)
	var hashes tlog.RecordProof
	for _, line := range strings.Split(top, "\n")[2:] {
		hashes = append(hashes, graphtest.Got(tlog.ParseHash(line))(w.t))
	}
	require.NoError(w.t, tlog.CheckRecord(hashes, tree.N, tree.Hash, index, tlog.RecordHash(entries[index])))
	for _, line := range strings.Split(strings.TrimSpace(checkpoint), "\n")[5:] {
		name := strings.Fields(line)[1]
		require.Equal(w.t, lineOf(name, strconv.FormatInt(tree.N, 10)), line)
		names = append(names, name)
	}
	return tree.N, names
}

// A proof uses the head with the most lines of witnesses that has the entry, and the newest if several have as many. So an entry
// with a quorum of witnesses keeps it while the log grows, and while a witness is away. Lines that no proof shows any more are
// removed.
func TestProofsHaveTheLinesOfWitnesses(t *testing.T) {
	t.Parallel()
	w, o := newWitnessed(t, "a", "b", "c")
	requireProof := func(index, size int64, names ...string) {
		t.Helper()
		found, by := w.proof(index)
		require.Equal(t, size, found)
		require.Equal(t, names, by)
	}
	requireProof(1, 2)
	w.cosign(o, 3)
	requireProof(1, 5, "a", "b", "c")
	for range 4 {
		w.Agent()
	}
	w.sequence()
	requireProof(4, 5, "a", "b", "c") // the present head has no line yet
	requireProof(5, 9)
	o.say("b", &witness.Answer{Err: errors.New("it is away")})
	process := w.another("")
	process.Witnesses = o
	require.ErrorContains(t, graphtest.Got(process.Cosign(t.Context()))(t), "it is away")
	requireProof(4, 5, "a", "b", "c")
	requireProof(5, 9, "a", "c")
	requireProof(8, 9, "a", "c")
	o.say("a", &witness.Answer{Err: errors.New("it is away")})
	for _, size := range []int64{11, 13} {
		for range 2 {
			w.Agent()
		}
		w.sequence()
		graphtest.OK(t)(process.Cosign(t.Context()))
		requireProof(4, 5, "a", "b", "c")
		requireProof(5, 9, "a", "c")
		requireProof(9, size, "c")
		require.EqualValues(t, 6, w.Count("SELECT count(*) FROM log_cosignatures"))
	}
	o.say("a", nil)
	w.cosign(o, 1)
	requireProof(5, 14, "a", "c")
	requireProof(13, 14, "a", "c")
	require.EqualValues(t, 5, w.Count("SELECT count(*) FROM log_cosignatures"))
	o.say("b", nil)
	w.cosign(o, 0)
	requireProof(0, 14, "a", "b", "c")
	require.EqualValues(t, 3, w.Count("SELECT count(*) FROM log_cosignatures"))

	// A witness that is no longer configured does not count.
	o.names = []string{"a", "b"}
	w.cosign(o, 1)
	requireProof(0, 15, "a", "b")
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM log_cosignatures"))
}

// A witness is asked for each head once, and an hour later; one that has not signed is asked again, but not at once, also if the
// log grows meanwhile.
func TestWhenWitnessesAreAsked(t *testing.T) {
	t.Parallel()
	w, o := newWitnessed(t, "a", "b")
	o.say("b", &witness.Answer{Err: errors.New("it is away")})
	for range 5 { // at once
		graphtest.OK(t)(w.KeyLog.Cosign(t.Context()))
	}
	require.Equal(t, []string{"a 2", "b 2"}, o.asked)
	w.Shift(61 * time.Minute)
	graphtest.OK(t)(w.KeyLog.Cosign(t.Context()))
	require.Contains(t, o.asked[2:], "a 2", "an hour later")
	o.say("b", nil)
	require.Eventually(t, func() bool { // it is asked again, without growth
		graphtest.OK(t)(w.KeyLog.Cosign(t.Context()))
		return w.Count("SELECT count(*) FROM log_cosignatures WHERE witness = 'b' AND size = 2") == 1
	}, slack.TestWait, 10*time.Millisecond)
	w.Agent()
	w.sequence()
	asked := len(o.asked)
	for range 3 {
		graphtest.OK(t)(w.KeyLog.Cosign(t.Context()))
	}
	require.Equal(t, []string{"a 3", "b 3"}, o.asked[asked:])
}

// While a witness keeps one call waiting, others return at once.
func TestOneCallAtATimeWaitsForWitnesses(t *testing.T) {
	t.Parallel()
	w, o := newWitnessed(t, "a")
	o.mu.Lock() // as a slow witness
	done := make(chan error)
	cosign := func() error { return graphtest.Err(w.KeyLog.Cosign(context.Background())) }
	go func() { done <- cosign() }()
	returned := make(chan error)
	go func() {
		var err error
		for n := 0; n < 100 && err == nil; n++ {
			err = cosign()
		}
		returned <- err
	}()
	// One of the two waits for the witness, the other does not.
	first, second := returned, done
	select {
	case err := <-first:
		require.NoError(t, err)
	case err := <-second:
		require.NoError(t, err)
		second = first
	}
	o.mu.Unlock()
	require.NoError(t, <-second)
	require.Equal(t, []string{"a 2"}, o.asked)
}

// If a process learns from a witness of a head that the database does not continue, it signs and appends nothing until a new
// epoch begins. The same holds for processes that share its folder, and for processes that start later, without the witness. It
// does not matter whether the head is greater, smaller and different, or of a later epoch.
func TestWitnessesShowLostHeads(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		shown  string
		wanted error
		kept   bool // in the file
	}{
		"greater":   {headText(1, 9), keylog.ErrBehind, true},
		"of now on": {headText(2, 1), keylog.ErrBehind, true},
		"another":   {headText(1, 4), keylog.ErrForked, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &others{names: []string{"down", "a"}, answers: make(map[string]witness.Answer), shown: make(map[string]witness.Answer)}
			w := newWorld(t)
			for range 4 {
				w.Agent()
			}
			w.sequence()
			w.read(1) // it is signed
			process := w.another(w.file)
			process.Witnesses = o
			o.shown["down"] = witness.Answer{Err: errors.New("no answer")}
			require.ErrorContains(t, process.AskWitnesses(t.Context()), "no answer")
			require.NoError(t, graphtest.Err(process.Checkpoint(t.Context(), 1)), "a witness that is away changes nothing")
			o.shown["a"] = witness.Answer{Text: string(graphtest.Got(w.KeyLog.Checkpoint(t.Context(), 1))(t))}
			require.NotErrorIs(t, process.AskWitnesses(t.Context()), keylog.ErrForked)
			require.NoError(t, graphtest.Err(process.Checkpoint(t.Context(), 1)), "nor does the head of the database")

			o.shown["a"] = witness.Answer{Text: row.shown}
			for range 2 {
				require.ErrorIs(t, process.AskWitnesses(t.Context()), row.wanted)
			}
			w.Agent()
			require.ErrorIs(t, graphtest.Err(process.Checkpoint(t.Context(), 1)), row.wanted)
			require.ErrorIs(t, graphtest.Err(process.Sequence(t.Context())), row.wanted)
			refused, err := process.Cosign(t.Context())
			require.NoError(t, errors.Join(refused, err))
			require.Empty(t, o.asked)
			metrics := graphtest.Got(process.Metrics(t.Context()))(t)
			require.InDelta(t, 1, metrics[0].Value, 0)
			require.Equal(t, errors.Is(row.wanted, keylog.ErrForked), metrics[1].Value == 1)
			for _, other := range []*keylog.API{w.another(w.file), w.KeyLog} {
				require.Equal(t, row.kept, errors.Is(graphtest.Err(other.Checkpoint(t.Context(), 1)), row.wanted))
			}
			w.newEpoch(process)
			graphtest.OK(t)(process.Sequence(t.Context()))
			_, epoch, _ := strings.Cut(graphtest.Got(process.Published(t.Context()))(t).Origin, "/log/")
			number := graphtest.Got(strconv.Atoi(epoch))(t)
			graphtest.OK(t)(process.Checkpoint(t.Context(), number))
			require.Equal(t, name == "of now on", number == 3, "an epoch that a witness knows is not begun again")
		})
	}
}

func headText(epoch, size int) string {
	return fmt.Sprintf("%s/log/%d\n%d\n%s\n\n— a b\n", host, epoch, size, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
}

// A witness that refuses a head because of another is believed only if it shows that other head.
func TestAWitnessMustShowTheOtherHead(t *testing.T) {
	t.Parallel()
	w, o := newWitnessed(t, "a", "b")
	o.say("a", &witness.Answer{Err: fmt.Errorf("%w: I know more", witness.ErrAhead)})
	refused, err := w.KeyLog.Cosign(t.Context())
	require.NoError(t, errors.Join(refused, err), "another process may have submitted a later head")
	graphtest.OK(t)(w.KeyLog.Checkpoint(t.Context(), 1))
	o.shown["a"] = witness.Answer{Text: headText(1, 77)}
	require.Eventually(t, func() bool {
		refused = graphtest.Got(w.KeyLog.Cosign(t.Context()))(t)
		return errors.Is(refused, keylog.ErrBehind)
	}, slack.TestWait, 10*time.Millisecond)
	require.ErrorContains(t, refused, "I know more")
	require.ErrorIs(t, graphtest.Err(w.KeyLog.Checkpoint(t.Context(), 1)), keylog.ErrBehind)
	require.False(t, slices.Contains(o.asked, "b 77"))
}
