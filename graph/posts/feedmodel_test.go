package posts_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/posts"
)

// known is the model of a post.
type known struct {
	id           uuid.UUID
	author       int
	kind         string
	public, gone bool
	// made and published are the moments of a clock; published is 0 while it was never public.
	made, published int
}

// listed is the moment by which lists order the post: readers' own private posts by when they were made.
func (k known) listed() int {
	if k.public {
		return k.published
	}
	return k.made
}

// profile is the model of an agent.
type profile struct{ closed, trashed, suspended bool }

func (p profile) hidden() bool { return p.closed || p.trashed || p.suspended }

// The feed and single posts agree with a plain model after any changes of posts and profiles.
func TestFeedModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inlineLimit(2)
	agents := []*graphtest.Agent{w.Agent(), w.Agent(), w.Agent()}
	kinds := []string{"update", "portfolio"}
	rapid.Check(t, func(rt *rapid.T) {
		w.Exec("DELETE FROM posts")
		w.Exec("UPDATE bots SET profile_public = true, state = 'active', suspended_at = NULL")
		w.settle()
		var all []*known
		clock := 0
		now := func() int { clock++; return clock }
		profiles := make([]profile, len(agents))
		agent := func(rt *rapid.T) int { return rapid.IntRange(0, len(agents)-1).Draw(rt, "agent") }
		one := func(rt *rapid.T) *known {
			live := slices.DeleteFunc(slices.Clone(all), func(p *known) bool { return p.gone })
			if len(live) == 0 {
				rt.Skip("there is no post")
			}
			return rapid.SampledFrom(live).Draw(rt, "post")
		}
		visible := func(p *known, reader int) bool {
			return !p.gone && (p.author == reader || p.public && !profiles[p.author].hidden())
		}
		row := func(column string, value func(*profile) bool, yes, no string) func(*rapid.T) {
			return func(rt *rapid.T) {
				i := agent(rt)
				set := no
				if value(&profiles[i]) {
					set = yes
				}
				w.Exec("UPDATE bots SET "+column+" = "+set+" WHERE id = $1", agents[i].ID)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"post": func(rt *rapid.T) {
				p := &known{author: agent(rt), kind: rapid.SampledFrom(kinds).Draw(rt, "kind"), public: rapid.Bool().Draw(rt, "public")}
				visibility := "private"
				if p.public {
					visibility = "public"
				}
				made, err := w.create(agents[p.author], posts.Fields{Kind: &p.kind, Visibility: &visibility})
				switch at := profiles[p.author]; {
				case p.public && at.closed:
					graphtest.RefusedField(rt, fault.InvalidVisibility, "visibility")(nil, err)
				case p.public && at.hidden():
					require.Equal(rt, fault.InactiveBot, fault.From(err).Code)
				default:
					require.NoError(rt, err)
					p.id = made.Post.ID
					all = append(all, p)
					if p.made = now(); p.public {
						p.published = p.made
					}
				}
			},
			"hide": func(rt *rapid.T) {
				p := one(rt)
				graphtest.OK(rt)(w.update(agents[p.author], p.id, posts.Fields{Visibility: ptr("private")}))
				p.public = false
			},
			"show": func(rt *rapid.T) {
				p := one(rt)
				_, err := w.update(agents[p.author], p.id, posts.Fields{Visibility: ptr("public")})
				switch at := profiles[p.author]; {
				case at.closed:
					graphtest.RefusedField(rt, fault.InvalidVisibility, "visibility")(nil, err)
				case at.hidden():
					require.Equal(rt, fault.InactiveBot, fault.From(err).Code)
				default:
					require.NoError(rt, err)
					if p.public = true; p.published == 0 {
						p.published = now()
					}
				}
			},
			"turn": func(rt *rapid.T) {
				p := one(rt)
				p.kind = rapid.SampledFrom(kinds).Draw(rt, "kind")
				graphtest.OK(rt)(w.update(agents[p.author], p.id, posts.Fields{Kind: &p.kind}))
			},
			"delete": func(rt *rapid.T) {
				p := one(rt)
				w.remove(agents[p.author], p.id)
				p.gone = true
			},
			"close or open": row("profile_public", func(p *profile) bool { p.closed = !p.closed; return p.closed }, "false", "true"),
			"trash or restore": row("state", func(p *profile) bool { p.trashed = !p.trashed; return p.trashed },
				"'trash'", "'active'"),
			"suspend or reinstate": row("suspended_at", func(p *profile) bool { p.suspended = !p.suspended; return p.suspended },
				"stoa_now()", "NULL"),
			"suspend or reinstate all": func(*rapid.T) {
				w.Exec("UPDATE bots SET suspended_at = CASE WHEN suspended_at IS NULL THEN stoa_now() END")
				for i := range profiles {
					profiles[i].suspended = !profiles[i].suspended
				}
			},
			"read": func(rt *rapid.T) {
				if len(all) == 0 {
					rt.Skip("there is no post")
				}
				p, reader := rapid.SampledFrom(all).Draw(rt, "post"), agent(rt)
				_, err := w.read(agents[reader], p.id)
				if visible(p, reader) {
					require.NoError(rt, err)
				} else {
					require.Equal(rt, fault.NotFound, fault.From(err).Code)
				}
			},
			"settle a batch": func(*rapid.T) { w.Exec("SELECT stoa_feed_settle(2)") },
			"settle":         func(*rapid.T) { w.settle() },
			"": func(rt *rapid.T) {
				require.Zero(rt, w.Count(feedDifference))
				if w.Count("SELECT count(*) FROM feed_backlog WHERE NOT hidden") > 0 {
					rt.Log("an author's older posts are still being added")
					w.settle()
				}
				reader, kind := agent(rt), rapid.SampledFrom([]string{"", "update", "portfolio"}).Draw(rt, "kind")
				size := rapid.IntRange(1, 6).Draw(rt, "size")
				shown := slices.DeleteFunc(slices.Clone(all), func(p *known) bool { return !visible(p, reader) || kind != "" && p.kind != kind })
				slices.SortFunc(shown, func(a, b *known) int { return b.listed() - a.listed() })
				want := make([]uuid.UUID, len(shown))
				for i, p := range shown {
					want[i] = p.id
				}
				for number, got := 1, []uuid.UUID{}; ; number++ {
					ids, next := w.feed(agents[reader], strconv.Itoa(number), strconv.Itoa(size), kind)
					got = append(got, ids...)
					if next == nil {
						require.Equal(rt, want, got)
						break
					}
					require.Equal(rt, number+1, *next)
				}
			},
		})
	})
}
