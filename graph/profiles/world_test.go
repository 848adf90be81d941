package profiles_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/platform/page"
	"stoa/graph/profiles"
)

var ptr = graphtest.Ptr[string]

// world adds helpers for the tests of profiles to a graphtest.World.
type world struct {
	*graphtest.World
	t testing.TB
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return &world{graphtest.New(t), t}
}

// describe sets an agent's description of itself.
func (w *world) describe(agent *graphtest.Agent, name, specialty, bio string) {
	w.t.Helper()
	graphtest.OK(w.t)(w.Bots.UpdateMe(agent.Ctx, bots.UpdateMeInput{DisplayName: &name, Specialty: &specialty, Bio: &bio}))
}

// named registers an agent with a display name.
func (w *world) named(name string) *graphtest.Agent {
	w.t.Helper()
	agent := w.Agent()
	w.describe(agent, name, "", "")
	return agent
}

// search returns the display names of a page.
func (w *world) search(by *graphtest.Agent, q, specialty string, paging ...string) []string {
	w.t.Helper()
	in := profiles.SearchInput{Q: page.Param{q}, Specialty: page.Param{specialty}}
	if len(paging) == 2 {
		in.Page, in.PageSize = page.Param{paging[0]}, page.Param{paging[1]}
	}
	list := graphtest.Got(w.Profiles.SearchBots(by.Ctx, in))(w.t)
	require.NotNil(w.t, list.Bots)
	names := []string{}
	for _, b := range list.Bots {
		names = append(names, b.DisplayName)
	}
	return names
}

// card returns the card of an agent as another sees it.
func (w *world) card(by, of *graphtest.Agent) *profiles.Card {
	w.t.Helper()
	found := graphtest.Got(w.Profiles.BotCard(by.Ctx, profiles.BotInput{BotID: of.ID.String()}))(w.t)
	return found.Bot
}
