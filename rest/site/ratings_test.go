package site_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/ratings"
)

// rated lets an agent rate another after an order that was closed.
func (w *world) rated(by, of *graphtest.Agent, stars int64, text string) *ratings.Card {
	w.t.Helper()
	order := uuid.Must(uuid.NewV7())
	w.Exec(`INSERT INTO orders (id, created_at, updated_at, author_id, state, outcome, title, description, deadline, amount_minor, fee_minor,
		total_minor, fee_bps, customer_id, contractor_id) VALUES ($1, stoa_now(), stoa_now(), $2, 'closed', 'accepted', 'x', 'x', stoa_now(),
		100, 10, 110, 1000, $2, $3)`, order, by.ID, of.ID)
	return w.rate(by, order, stars, text)
}

// rate lets an agent rate the other side of an order.
func (w *world) rate(by *graphtest.Agent, order uuid.UUID, stars int64, text string) *ratings.Card {
	w.t.Helper()
	made, err := w.Ratings.RateOrder(by.Ctx, ratings.RateInput{
		OrderID: order.String(), OperationID: ptr(uuid.NewString()), Stars: &stars, Text: &text,
	})
	require.NoError(w.t, err)
	return made.Rating
}

// An agent's page shows its ratings, without their orders, and without authors that are not visible.
func TestRatingsOfAnAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, open, closed := w.publish("zephyr", nil), w.Agent(), w.Agent()
	path := "/@" + p.handle
	require.NotContains(t, textOf(w.get(path).is(http.StatusOK).root), "Rat")
	first := w.rated(open, p.Agent, 5, "Swift <b>wind</b>")
	require.Contains(t, textOf(w.get(path).is(http.StatusOK).root), "5.0 of 5 from 1 agent")
	hidden := w.rated(closed, p.Agent, 4, "A secret opinion")
	w.Show(closed, false)
	shown := textOf(w.get(path).is(http.StatusOK).root)
	for _, text := range []string{"4.5 of 5 from 2 agents", "2 ratings in all", "rated as contractor by Agent @agent_2 ★★★★★", "Swift <b>wind</b>"} {
		require.Contains(t, shown, text)
	}
	require.Contains(t, textOf(w.get("/search").is(http.StatusOK).root), "★ 4.5 from 2 agents")
	for _, form := range forms {
		raw := string(w.get(path, "Accept", form).is(http.StatusOK).raw)
		require.Contains(t, raw, "4.5")
		for _, secret := range []string{
			"secret opinion", closed.ID.String(), hidden.ID.String(), hidden.OrderID.String(), first.OrderID.String(),
		} {
			require.NotContains(t, raw, secret, form)
		}
	}
	body := w.get(path, "Accept", "application/json").json()
	reputation := body["bot"].(map[string]any)["reputation"].(map[string]any)
	require.InDelta(t, 4.5, reputation["average"], 0)
	require.Nil(t, reputation["owners"], "mail is not set up")
	require.Contains(t, shown, "as contractor ★ 4.5 2 ratings, 2 agents")
	require.NotContains(t, shown, "as customer ★ ")
	w.Profiles.SendsMail = true
	require.Contains(t, textOf(w.get(path).is(http.StatusOK).root), "from 2 agents of 0 owners")
	require.Len(t, body["ratings"], 1)
}

// A rating links to its signed document, and the document is served, only while both profiles are open.
func TestSignedDocumentOfARating(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, author := w.publish("zephyr", nil), w.Agent()
	w.Show(author, true)
	made := w.rated(author, p.Agent, 5, "Swift wind")
	page, document := "/@"+p.handle, "/ratings/"+made.ID.String()
	require.NotContains(t, string(w.get(page).is(http.StatusOK).raw), document, "it is not signed yet")
	w.get(document).is(http.StatusNotFound)
	_, err := w.Receipts.Sign(t.Context())
	require.NoError(t, err)
	for _, form := range []string{"text/html", "text/markdown"} {
		require.Contains(t, string(w.get(page, "Accept", form).is(http.StatusOK).raw), document)
	}
	shown := w.get(document).is(http.StatusOK).json()
	require.Len(t, shown, 1)
	rating := shown["rating"].(map[string]any)
	require.Len(t, rating, 4)
	require.Regexp(t, `^[A-Za-z0-9_-]+[.][A-Za-z0-9_-]+[.][A-Za-z0-9_-]{86}$`, rating["jws"])
	for _, closing := range []*graphtest.Agent{p.Agent, author} {
		w.Show(closing, false)
		w.get(document).is(http.StatusNotFound)
		w.Show(closing, true)
	}
	w.get(document).is(http.StatusOK)
	w.get("/ratings/x").is(http.StatusNotFound)
	w.get("/ratings/" + made.OrderID.String()).is(http.StatusNotFound)
}
