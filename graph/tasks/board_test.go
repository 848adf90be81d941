package tasks_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/tasks"
)

// found lists the titles of a page of the board.
func (w *world) found(ctx context.Context, q, state string, paging ...string) []string {
	in := tasks.TaskBoardInput{Q: []string{q}, State: []string{state}}
	if len(paging) == 2 {
		in.Page, in.PageSize = paging[:1], paging[1:]
	}
	list := graphtest.Got(w.Tasks.TaskBoard(ctx, in))(w.t)
	require.NotNil(w.t, list.Tasks)
	titles := []string{}
	for _, card := range list.Tasks {
		titles = append(titles, card.Title)
	}
	return titles
}

// Common texts are found by reading the board in order, rare texts by an index; both return the same.
func TestSearchForCommonAndRareTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hidden := w.Agent()
	w.Exec(`INSERT INTO tasks (id, created_at, updated_at, customer_id, title, description, deadline, amount_minor, fee_minor, total_minor, fee_bps, state, removed_at)
		SELECT gen_random_uuid(), stoa_now() + n * interval '1 second', stoa_now(), CASE WHEN n % 7 = 0 THEN $2::uuid ELSE $1::uuid END, 'n' || n,
		  CASE WHEN n % 400 = 1 THEN 'rare and ' ELSE '' END || 'common ж', stoa_now(), 1, 0, 1, 0,
		  CASE WHEN n % 2 = 0 THEN 'closed' ELSE 'open' END, CASE WHEN n % 5 = 0 THEN stoa_now() END
		FROM generate_series(1, 4000) AS n`, w.customer.ID, hidden.ID)
	w.Exec("UPDATE bots SET state = 'deleted' WHERE id = $1", hidden.ID)
	w.Exec("ANALYZE tasks")
	open, closed, rare := []string{}, []string{}, []string{}
	for n := 4000; n > 0; n-- {
		if n%7 == 0 || n%5 == 0 {
			continue
		}
		title := fmt.Sprintf("n%d", n)
		if n%2 == 0 {
			closed = append(closed, title)
			continue
		}
		open = append(open, title)
		if n%400 == 1 {
			rare = append(rare, title)
		}
	}
	for _, q := range []string{"", "common", "om", "ж", "n"} {
		require.Equal(t, open[:20], w.found(anonymous(), q, "open", "1", "20"), q)
		require.Equal(t, open[1000:1050], w.found(anonymous(), q, "open", "21", "50"), q)
		require.Equal(t, closed[40:60], w.found(w.customer.Ctx, q, "closed", "3", "20"), q)
		require.Equal(t, open[len(open)/50*50:], w.found(anonymous(), q, "open", strconv.Itoa(len(open)/50+1), "50"), q)
	}
	for _, q := range []string{"rare", "re", "E AND"} {
		require.Equal(t, rare, w.found(anonymous(), q, "open"), q)
		require.Equal(t, rare[2:4], w.found(anonymous(), q, "open", "2", "2"), q)
		require.Empty(t, w.found(anonymous(), q, "closed"), q)
	}
	require.Empty(t, w.found(anonymous(), "nowhere", "open"))
	require.Empty(t, w.found(anonymous(), "", "open", "1000", "50"))
}

// A search finds a task in any state by any part of its title or description, and by nothing else; pages of any size are parts of
// the same list.
func TestBoardModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rapid.Check(t, func(rt *rapid.T) {
		w.Exec("DELETE FROM tasks")
		var (
			all   []*tasks.Card
			texts []string
		)
		for i := range rapid.IntRange(0, 6).Draw(rt, "tasks") {
			title := fmt.Sprint(i, strings.TrimSpace(graphtest.SearchedText(0).Draw(rt, "title")), "x")
			all = append(all, w.Tasked(w.customer, title, graphtest.SearchedText(1).Draw(rt, "description"), amount))
			texts = append(texts, title, all[i].Description)
			if rapid.IntRange(0, 3).Draw(rt, "closed") == 0 {
				all[i] = graphtest.Got(w.Tasks.CloseTask(w.customer.Ctx, naming(all[i])))(rt).Task
			}
		}
		slices.Reverse(all)
		for range 4 {
			q, state := graphtest.SearchQuery(rt, texts...), rapid.SampledFrom([]string{"open", "closed", "selected"}).Draw(rt, "state")
			want := []string{}
			for _, task := range all {
				if task.State == state && (graphtest.Matches(task.Title, q) || graphtest.Matches(task.Description, q)) {
					want = append(want, task.Title)
				}
			}
			require.Equal(rt, want, w.found(anonymous(), q, state), "q=%q state=%q", q, state)
			first := want[:min(2, len(want))]
			require.Equal(rt, first, w.found(anonymous(), q, state, "1", "2"), "q=%q state=%q", q, state)
		}
	})
}

// offer puts a task of the customer's on the board, or tries to.
func (w *world) offer(amountMinor int64) (*tasks.TaskResult, error) {
	return w.Tasks.CreateTask(w.customer.Ctx, tasks.CreateTaskInput{
		Title: ptr("A sonnet"), Description: ptr("Fourteen lines."), Deadline: ptr("2999-01-01T00:00:00Z"), AmountMinor: &amountMinor,
	})
}

func TestATaskNeedsItsTotal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	graphtest.OK(t)(w.offer(454_545)) // with the fee the whole balance of the customer
	graphtest.Refused(t, fault.InsufficientFunds)(w.offer(454_546))
	require.Equal(t, [2]int64{500_000, 0}, w.balances(w.customer), "nothing is reserved")

	task := w.task()
	w.Selected(w.customer, task, w.Responded(w.responder, task.ID).ID)
	graphtest.Refused(t, fault.InsufficientFunds)(w.offer(454_545))
	graphtest.OK(t)(w.offer(453_545))
}

// Concurrent requests do not exceed the limit, and every end of a task makes room for another.
func TestOpenTasksAreLimited(t *testing.T) {
	t.Parallel()
	const most = 3
	w := newWorld(t, graphtest.WithQuotas(limits.Quotas{OpenTasks: most}))
	made := make([]*tasks.TaskResult, 2*most)
	codes := graphtest.AtOnce(len(made), func(i int) (err error) {
		made[i], err = w.offer(amount)
		return err
	})
	require.Equal(t, map[fault.Code]int{"": most, fault.StorageRecordLimit: most}, codes.Count())
	graphtest.Refused(t, fault.StorageRecordLimit)(w.offer(1_000_000))
	graphtest.OK(t)(w.Tasks.CreateTask(w.responder.Ctx, tasks.CreateTaskInput{
		Title: ptr("An ode"), Description: ptr("Ten lines."), Deadline: ptr("2999-01-01T00:00:00Z"), AmountMinor: graphtest.Ptr(amount),
	}))

	open := []*tasks.Card{}
	for _, m := range made {
		if m != nil {
			open = append(open, m.Task)
		}
	}
	for _, end := range []func(id uuid.UUID){
		func(uuid.UUID) { graphtest.OK(t)(w.Tasks.CloseTask(w.customer.Ctx, naming(open[0]))) },
		func(id uuid.UUID) { w.Selected(w.customer, open[1], w.Responded(w.responder, id).ID) },
		func(id uuid.UUID) { require.NoError(t, w.remove(id)) },
	} {
		end(open[1].ID)
		open[1] = graphtest.Got(w.offer(amount))(t).Task
		graphtest.Refused(t, fault.StorageRecordLimit)(w.offer(amount))
	}
}
