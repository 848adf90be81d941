package operator_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/ent"
	"stoa/ent/document"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/fault"
)

// terms is a version of a document.
func terms(version string) operator.DocumentInput {
	return operator.DocumentInput{Key: "terms", Title: "Terms", Version: version, URL: "https://example.org/terms", Text: "Be kind.\nVersion " + version}
}

func (o *operatorWorld) published(in operator.DocumentInput) *ent.Document {
	return graphtest.Got(o.Operator.PublishDocument(o.ctx, in, "why"))(o.t)
}

// inForce returns the versions of a document that are in force.
func (o *operatorWorld) inForce(key string) []string {
	return graphtest.Got(o.DB.Ent.Document.Query().Where(document.Key(key), document.WithdrawnAtIsNil()).Select(document.FieldVersion).Strings(o.ctx))(o.t)
}

// A new version withdraws the one in force. A withdrawn version stays on record.
func TestANewVersionWithdrawsTheOneInForce(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	first := o.published(terms(" 1.0 "))
	sum := sha256.Sum256([]byte(terms(" 1.0 ").Text))
	require.Equal(t, hex.EncodeToString(sum[:]), first.Sha256)
	require.Equal(t, terms(" 1.0 ").Text, first.Text, "as sent")
	require.Equal(t, []string{"1.0"}, o.inForce("terms"), "trimmed")
	require.Equal(t, map[string]any{"key": "terms", "title": "Terms", "version": "1.0", "url": "https://example.org/terms", "sha256": first.Sha256},
		o.entries()[0].Details, "the hash stands for the text")
	require.Equal(t, first.ID.String(), o.entries()[0].Target)

	other := terms("1.0")
	other.Key, other.URL = "privacy", ""
	o.published(other)
	o.Shift(time.Hour)
	o.published(terms("2.0"))
	require.Equal(t, []string{"2.0"}, o.inForce("terms"))
	require.Equal(t, []string{"1.0"}, o.inForce("privacy"))
	old := graphtest.Got(o.DB.Ent.Document.Get(o.ctx, first.ID))(t)
	require.WithinDuration(t, first.CreatedAt.Add(time.Hour), *old.WithdrawnAt, time.Minute)

	before := o.state()
	for _, again := range []string{"1.0", "2.0"} {
		_, err := o.Operator.PublishDocument(o.ctx, terms(again), "why")
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields["version"], "published before")
	}
	require.Equal(t, before, o.state(), "the version in force stays")

	last := graphtest.Got(o.DB.Ent.Document.Query().Where(document.Version("2.0")).OnlyID(o.ctx))(t)
	gone := graphtest.Got(o.Operator.WithdrawDocument(o.ctx, last, "why"))(t)
	require.NotNil(t, gone.WithdrawnAt)
	require.Empty(t, o.inForce("terms"))
	o.Shift(time.Hour)
	again := graphtest.Got(o.Operator.WithdrawDocument(o.ctx, last, "why"))(t)
	require.Equal(t, gone.WithdrawnAt, again.WithdrawnAt, "the first time stays")
	graphtest.Refused(t, fault.InvalidInput)(o.Operator.PublishDocument(o.ctx, terms("2.0"), "why"))
	o.published(terms("3.0"))
}

// After concurrent publications one version is in force.
func TestPublishingAtOnce(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	codes := graphtest.AtOnce(6, func(i int) error {
		return graphtest.Err(o.Operator.PublishDocument(o.ctx, terms(strconv.Itoa(i)), "why"))
	})
	require.Equal(t, map[fault.Code]int{"": 6}, codes.Count())
	require.Len(t, o.inForce("terms"), 1)
	require.EqualValues(t, 6, o.Count("SELECT count(*) FROM documents"))
}

// noticed returns the remarks about each agent under "needs attention", by kind and handle.
func (o *operatorWorld) noticed() map[string]map[string]string {
	found := map[string]map[string]string{}
	for _, one := range graphtest.Got(o.Operator.Now(o.ctx))(o.t).Attention {
		for _, agent := range one.Agents {
			if found[one.Kind] == nil {
				found[one.Kind] = map[string]string{}
			}
			found[one.Kind][agent.Handle] = agent.About
			require.GreaterOrEqual(o.t, one.Count, int64(len(one.Agents)))
		}
	}
	return found
}

// called renames an agent.
func (o *operatorWorld) called(agent *graphtest.Agent, handle, displayName string) {
	o.Exec("UPDATE bots SET handle = $2, display_name = $3, updated_at = stoa_now() WHERE id = $1", agent.ID, handle, displayName)
}

// closed makes an order that closed as accepted, with its receipt.
func (o *operatorWorld) closed(customer, contractor *graphtest.Agent) {
	o.Exec("INSERT INTO receipts (id, kind, order_id, customer_id, contractor_id, created_at) VALUES ($1, 'order', $1, $2, $3, stoa_now())",
		o.Ordered(customer, contractor, "closed"), customer.ID, contractor.ID)
}

// An agent that imitates an agent with a closed order, floods, mentions many agents or promises more than its wallet holds is
// shown before anyone reports it, until an operator has checked it.
func TestSuspiciousAgentsAreNoticed(t *testing.T) {
	t.Parallel()
	handles := ""
	for n := range 10 {
		handles += fmt.Sprint("@somebody", n, " ")
	}
	for name, c := range map[string]struct {
		kind, about string
		act         func(*operatorWorld, *graphtest.Agent)
	}{
		"a display name": {"lookalikes", "looks like @otto_poems", func(o *operatorWorld, a *graphtest.Agent) {
			o.called(a, "quiet_one", "ОTTО the poet") // Cyrillic
		}},
		"a display name of the platform": {"posing", "looks like the platform", func(o *operatorWorld, a *graphtest.Agent) {
			o.called(a, "vex", "St\u043ea Support")
		}},
		"a handle of the platform": {"posing", "looks like the platform", func(o *operatorWorld, a *graphtest.Agent) {
			o.called(a, "security1", "Vex")
		}},
		"a handle": {"lookalikes", "looks like @otto_poems", func(o *operatorWorld, a *graphtest.Agent) {
			o.called(a, "otto_poem", "Somebody")
		}},
		"orders": {"floods", "11 in a minute", func(o *operatorWorld, a *graphtest.Agent) {
			other := o.Agent()
			for range 11 {
				o.closed(a, other)
			}
			o.Exec("UPDATE orders SET outcome = 'cancelled', created_at = date_trunc('minute', stoa_now()) WHERE customer_id = $1", a.ID)
		}},
		"offers of work": {"floods", "11 in a minute", func(o *operatorWorld, a *graphtest.Agent) {
			for range 11 {
				o.closed(o.Agent(), a)
			}
			o.Exec(`UPDATE orders SET outcome = 'cancelled', created_at = date_trunc('minute', stoa_now()), author_id = $1
				WHERE contractor_id = $1`, a.ID)
		}},
		"an offer": {"rewards", "promises 9000000000.00 credits", func(o *operatorWorld, a *graphtest.Agent) {
			o.closed(a, o.Agent())
			o.Exec("UPDATE orders SET state = 'offered', outcome = NULL, total_minor = 900000000000, amount_minor = 899999999990 WHERE customer_id = $1", a.ID)
		}},
		"withdrawn responses": {"floods", "11 in a minute", func(o *operatorWorld, a *graphtest.Agent) {
			o.Exec(`INSERT INTO responses (id, created_at, task_id, bot_id, text, amount_minor, total_minor, state)
				SELECT gen_random_uuid(), date_trunc('minute', stoa_now()), $1, $2, 'Look at me.', 100, 110, 'withdrawn'
				FROM generate_series(1, 11)`, o.Tasked(o.Agent(), "A sonnet", "x", 100).ID, a.ID)
		}},
		"feedback": {"floods", "11 in a minute", func(o *operatorWorld, a *graphtest.Agent) {
			for range 11 {
				o.sent(a)
			}
			o.Exec(`UPDATE feedbacks f SET created_at = date_trunc('minute', stoa_now()) - interval '90 seconds' + n.at * interval '5 seconds'
				FROM (SELECT id, row_number() OVER (ORDER BY id) AS at FROM feedbacks) n WHERE n.id = f.id`) // across a minute of the clock
		}},
		"a cleared name": {"renamed", "has taken a name unlike its handle", func(o *operatorWorld, a *graphtest.Agent) {
			graphtest.OK(o.t)(o.Operator.ClearProfile(o.ctx, a.ID, true, false, false, nil, "a swindler"))
			require.Empty(o.t, o.noticed())
			o.Exec("UPDATE bots SET display_name = 'Another', updated_at = stoa_now() WHERE id = $1", a.ID)
		}},
		"posts": {"floods", "11 in a minute", func(o *operatorWorld, a *graphtest.Agent) {
			for range 11 {
				o.Posted(a, "Buy!", "public")
			}
			o.Exec("UPDATE posts SET created_at = date_trunc('minute', stoa_now()) WHERE author_id = $1", a.ID)
		}},
		"old drafts": {"floods", "11 in a minute", func(o *operatorWorld, a *graphtest.Agent) {
			for range 11 {
				o.Posted(a, "Buy!", "private")
			}
			o.Exec("UPDATE posts SET created_at = created_at - interval '30 days' WHERE text = 'Buy!'")
			o.Exec(`INSERT INTO posts (id, created_at, updated_at, author_id, kind, visibility, title, text)
				SELECT ('ffffffff-ffff-7fff-bfff-' || lpad(n::text, 12, '0'))::uuid, '2020-01-01', '2020-01-01', $1, 'update', 'private', '', ''
				FROM generate_series(1, 5000) n ON CONFLICT DO NOTHING`, a.ID) // with later ids
			o.Exec("UPDATE posts SET visibility = 'public' WHERE text = 'Buy!'")
		}},
		"mentions of an old draft": {"mentions", "10 agents in a post", func(o *operatorWorld, a *graphtest.Agent) {
			id := o.Posted(a, handles, "private").ID
			o.Exec("UPDATE posts SET created_at = created_at - interval '30 days' WHERE id = $1", id)
			o.Exec("UPDATE posts SET visibility = 'public' WHERE id = $1", id)
		}},
		"mentions": {"mentions", "10 agents in a post", func(o *operatorWorld, a *graphtest.Agent) {
			o.Posted(a, handles, "public")
		}},
		"a reward": {"rewards", "promises 9000000000.00 credits", func(o *operatorWorld, a *graphtest.Agent) {
			task := o.Tasked(a, "A sonnet", "x", 100)
			o.Exec("UPDATE tasks SET total_minor = 900000000000, amount_minor = 900000000000, fee_minor = 0 WHERE id = $1", task.ID)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperatorWorld(t)
			otto, swindler := o.named("otto_poems", "Otto the poet"), o.named("quite_different", "Somebody")
			o.closed(otto, o.named("ada", "Ada"))
			c.act(o, swindler)
			found := o.noticed()
			require.Len(t, found, 1)
			require.Equal(t, []string{c.about}, slices.Collect(maps.Values(found[c.kind])))
			posing := graphtest.Got(o.Operator.Overview(o.ctx))(t).Posing
			require.Equal(t, c.kind == "posing", len(posing) == 1 && posing[0].ID == swindler.ID)
			if c.kind == "lookalikes" {
				require.Equal(t, []string{"otto_poems"}, graphtest.Got(o.Operator.Dossier(o.ctx, swindler.ID))(t).Resembles)
				require.Empty(t, graphtest.Got(o.Operator.Dossier(o.ctx, otto.ID))(t).Resembles, "the imitated agent imitates no one")
			}
			graphtest.OK(t)(o.Operator.NoteBot(o.ctx, swindler.ID, "looked at it"))
			require.Empty(t, o.noticed())
			o.Shift(time.Hour)
			c.act(o, swindler)
			require.Contains(t, o.noticed(), c.kind, "it does it again")
			graphtest.OK(t)(o.Operator.SuspendBot(o.ctx, swindler.ID, nil, "a swindler"))
			require.Empty(t, o.noticed())
			require.Empty(t, graphtest.Got(o.Operator.Overview(o.ctx))(t).Posing)
		})
	}
}

// The agent that takes a name later is the imitator, even if it registered first and has closed orders. It imitates a suspended
// agent, too, and imitators that deal with each other do not hide the agent that the oldest one imitates.
func TestImitatorsAreTold(t *testing.T) {
	t.Parallel()
	for name, imitate := range map[string]func(o *operatorWorld, otto, sleeper *graphtest.Agent){
		"it registered before": func(o *operatorWorld, otto, sleeper *graphtest.Agent) { o.closed(otto, sleeper) },
		"a suspended agent": func(o *operatorWorld, otto, _ *graphtest.Agent) {
			graphtest.OK(o.t)(o.Operator.SuspendBot(o.ctx, otto.ID, nil, "a swindler"))
		},
		"a crowd of imitators": func(o *operatorWorld, otto, sleeper *graphtest.Agent) {
			o.closed(otto, o.Agent())
			for n := range 11 {
				o.closed(sleeper, o.named(fmt.Sprint("imitator", n, "_of_otto"), "Otto the poet"))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperatorWorld(t)
			sleeper := o.Agent()
			otto := o.named("otto_poems", "Otto the poet")
			o.called(sleeper, "quite_different", "Otto the poet")
			imitate(o, otto, sleeper)
			require.Equal(t, "looks like @otto_poems", o.noticed()["lookalikes"]["quite_different"])
			require.NotContains(t, o.noticed()["lookalikes"], "otto_poems")
			require.Equal(t, []string{"otto_poems"}, graphtest.Got(o.Operator.Dossier(o.ctx, sleeper.ID))(t).Resembles)
			require.Empty(t, graphtest.Got(o.Operator.Dossier(o.ctx, otto.ID))(t).Resembles)
			graphtest.OK(t)(o.Operator.ModerateBot(o.ctx, sleeper.ID, true, false, false, false, nil, false, nil, nil, nil, "a swindler"))
			require.NotContains(t, o.noticed()["lookalikes"], "quite_different")
			require.Equal(t, []string{"otto_poems"}, graphtest.Got(o.Operator.Dossier(o.ctx, sleeper.ID))(t).Resembles)
		})
	}
}

// Honest agents are not noticed.
func TestHonestAgentsAreNotNoticed(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	o.closed(o.named("otto_poems", "Otto the poet"), o.named("ada", "Ada"))
	old := o.named("quite_different", "Somebody")
	for range 8 {
		o.Posted(old, "A poem", "public")
	}
	o.Exec("UPDATE posts SET created_at = date_trunc('minute', stoa_now())")
	o.Posted(old, "Thanks to @ada and ten others at a@b.c, d@e.f", "public")
	o.Tasked(old, "A sonnet", "x", 100)
	require.Empty(t, o.noticed())
	require.Empty(t, graphtest.Got(o.Operator.Dossier(o.ctx, old.ID))(t).Resembles)
}
