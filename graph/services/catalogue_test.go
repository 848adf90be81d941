package services_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/services"
)

// known is the model of a service.
type known struct {
	id                 uuid.UUID
	agent              int
	title, description string
}

// The catalogue and single services agree with a plain model after any changes of services and profiles: a search finds a service
// by any part of its title or description, and by nothing else.
func TestCatalogueModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agents := []*graphtest.Agent{w.Agent(), w.Agent(), w.Agent()}
	text := rapid.Map(graphtest.SearchedText(0), func(s string) string { return "x" + strings.TrimSpace(s) })
	rapid.Check(t, func(rt *rapid.T) {
		w.Exec("DELETE FROM services")
		w.Exec("UPDATE bots SET profile_public = true, state = 'active', suspended_at = NULL")
		var all []*known
		hidden := map[string]map[int]bool{"profile_public": {}, "state": {}, "suspended_at": {}}
		shown := func(s *known) bool {
			return !hidden["profile_public"][s.agent] && !hidden["state"][s.agent] && !hidden["suspended_at"][s.agent]
		}
		one := func(rt *rapid.T) int {
			if len(all) == 0 {
				rt.Skip("there is no service")
			}
			return rapid.IntRange(0, len(all)-1).Draw(rt, "service")
		}
		turn := func(column, yes, no string) func(*rapid.T) {
			return func(rt *rapid.T) {
				i := rapid.IntRange(0, len(agents)-1).Draw(rt, "agent")
				hidden[column][i] = !hidden[column][i]
				value := yes
				if hidden[column][i] {
					value = no
				}
				w.Exec("UPDATE bots SET "+column+" = "+value+" WHERE id = $1", agents[i].ID)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"create": func(rt *rapid.T) {
				s := &known{agent: rapid.IntRange(0, len(agents)-1).Draw(rt, "agent"), title: text.Draw(rt, "title"), description: text.Draw(rt, "description")}
				made, err := w.create(agents[s.agent], s.title, s.description)
				if hidden["state"][s.agent] || hidden["suspended_at"][s.agent] {
					require.Equal(rt, fault.InactiveBot, fault.From(err).Code)
					return
				}
				require.NoError(rt, err)
				s.id = made.Service.ID
				all = append(all, s)
			},
			"update": func(rt *rapid.T) {
				s := all[one(rt)]
				s.description = text.Draw(rt, "description")
				graphtest.OK(rt)(w.update(agents[s.agent], s.id, services.Fields{Description: &s.description}))
			},
			"delete": func(rt *rapid.T) {
				i := one(rt)
				require.NoError(rt, w.remove(agents[all[i].agent], all[i].id))
				all = slices.Delete(all, i, i+1)
			},
			"close or open":        turn("profile_public", "true", "false"),
			"trash or restore":     turn("state", "'active'", "'trash'"),
			"suspend or reinstate": turn("suspended_at", "NULL", "stoa_now()"),
			"read": func(rt *rapid.T) {
				s := all[one(rt)]
				_, err := w.read(s.id)
				if shown(s) {
					require.NoError(rt, err)
				} else {
					require.Equal(rt, fault.NotFound, fault.From(err).Code)
				}
			},
			"": func(rt *rapid.T) {
				var texts []string
				for _, s := range all {
					texts = append(texts, s.title, s.description)
				}
				q, size := graphtest.SearchQuery(rt, texts...), rapid.IntRange(2, 9).Draw(rt, "size")
				want := []string{}
				for _, s := range slices.Backward(all) {
					if shown(s) && (graphtest.Matches(s.title, q) || graphtest.Matches(s.description, q)) {
						want = append(want, s.title)
					}
				}
				for number, got := 1, []string{}; ; number++ {
					titles, next := w.catalogue(q, strconv.Itoa(number), strconv.Itoa(size))
					got = append(got, titles...)
					if next == nil {
						require.Equal(rt, want, got, "q=%q", q)
						break
					}
					require.Equal(rt, number+1, *next)
				}
			},
		})
	})
}

// Common texts are found by reading the catalogue in order, rare texts by an index; both return the same.
func TestSearchForCommonAndRareTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	open, closed := w.Agent(), w.Agent()
	w.Exec(`INSERT INTO services (id, bot_id, created_at, updated_at, title, description)
		SELECT gen_random_uuid(), CASE WHEN n % 2 = 0 THEN $1::uuid ELSE $2::uuid END, stoa_now() + make_interval(secs => n), stoa_now(), 'n' || n,
		CASE WHEN n > 1500 AND n % 100 = 0 THEN 'rare and ' ELSE '' END || 'common ж' FROM generate_series(1, 2400) AS n`, open.ID, closed.ID)
	w.Show(closed, false)
	for _, q := range []string{"common", "om", "ж"} {
		titles, next := w.catalogue(q, "", "3")
		require.Equal(t, []string{"n2400", "n2398", "n2396"}, titles, q)
		require.NotNil(t, next)
		titles, next = w.catalogue(q, "24", "50")
		require.Len(t, titles, 50)
		require.Equal(t, "n2", titles[49])
		require.Nil(t, next)
	}
	for _, q := range []string{"RARE", "re"} {
		titles, _ := w.catalogue(q, "2", "4")
		require.Equal(t, []string{"n2000", "n1900", "n1800", "n1700"}, titles, q)
	}
}

var ptr = graphtest.Ptr[string]

// world adds helpers for the tests of services to a graphtest.World.
type world struct {
	*graphtest.World
	t testing.TB
}

func newWorld(t testing.TB, options ...graphtest.Option) *world {
	t.Helper()
	return &world{graphtest.New(t, options...), t}
}

func (w *world) create(by *graphtest.Agent, title, description string) (*services.ServiceResult, error) {
	return w.Services.CreateService(by.Ctx, services.CreateServiceInput{Fields: services.Fields{Title: &title, Description: &description}})
}

func (w *world) update(by *graphtest.Agent, id uuid.UUID, f services.Fields) (*services.ServiceResult, error) {
	return w.Services.UpdateService(by.Ctx, services.UpdateServiceInput{ServiceID: id.String(), Fields: f})
}

func (w *world) remove(by *graphtest.Agent, id uuid.UUID) error {
	gone, err := w.Services.DeleteService(by.Ctx, services.ServiceInput{ServiceID: id.String()})
	if err == nil {
		require.Equal(w.t, &services.DeletedService{Deleted: true, ID: id}, gone)
	}
	return err
}

// read reads a service without a token.
func (w *world) read(id uuid.UUID) (*services.ServiceResult, error) {
	return w.Services.Service(context.Background(), services.ServiceInput{ServiceID: id.String()})
}

// catalogue returns the titles of a page, read without a token; empty parameters are left out.
func (w *world) catalogue(q, number, size string) (titles []string, next *int) {
	param := func(s string) page.Param {
		if s == "" {
			return nil
		}
		return page.Param{s}
	}
	list, err := w.Services.ServiceCatalogue(context.Background(), services.CatalogueInput{Page: param(number), PageSize: param(size), Q: param(q)})
	require.NoError(w.t, err)
	require.NotNil(w.t, list.Services)
	titles = []string{}
	for _, s := range list.Services {
		titles = append(titles, s.Title)
	}
	return titles, list.NextPage
}
