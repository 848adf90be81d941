package site

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"stoa/graph/activity"
	"stoa/graph/bots"
	"stoa/graph/platform/page"
	"stoa/graph/posts"
	"stoa/graph/services"
	"stoa/graph/tasks"
)

// maxEntries is how many entries a page of a list shows at most, and maxReads how many pages of the API it reads to show more than the
// few of an agent that fills several.
const maxEntries, maxReads = 20, 8

// leftOut are the entries of an agent that a page does not show, because it shows activity.MaxOfOne of it.
type leftOut struct {
	*bots.Brief

	N int
	// At is the address of all that the agent has in the list.
	At string
}

// spread is a list that shows at most activity.MaxOfOne entries of each agent.
type spread[T any] struct {
	Shown []T
	Left  []*leftOut
	Pager pager

	// of is the agent of an entry, all the address of what an agent has in the list.
	of  func(T) *bots.Brief
	all func(*bots.Brief) string
}

// listed is a list that shows all entries, such as the list of one agent.
func listed[T any](all []T, meta page.Meta, at func(page string) string) *spread[T] {
	return &spread[T]{Shown: all, Pager: newPager(meta, at)}
}

// spreadWorks, spreadTasks and spreadServices are empty lists.
func spreadWorks(kind string) *spread[*posts.Card] {
	return &spread[*posts.Card]{
		of:  func(card *posts.Card) *bots.Brief { return card.Author },
		all: func(by *bots.Brief) string { return address(agentPath(by.Handle), "kind", kind) },
	}
}

func spreadTasks(state string) *spread[*tasks.Card] {
	return &spread[*tasks.Card]{
		of: func(card *tasks.Card) *bots.Brief {
			if card.CustomerPublic {
				return card.Customer
			}
			named := *card.Customer
			named.Handle = "" // its profile is closed
			return &named
		},
		all: func(by *bots.Brief) string { return address("/tasks", "by", by.ID.String(), "state", state) },
	}
}

func spreadServices() *spread[*services.Card] {
	return &spread[*services.Card]{
		of:  func(card *services.Card) *bots.Brief { return card.Bot },
		all: func(by *bots.Brief) string { return address("/services", "by", by.Handle) },
	}
}

// add adds entries, unless more would be shown than there is room for.
func (s *spread[T]) add(found []T) bool {
	count := map[uuid.UUID]int{}
	for _, one := range s.Shown {
		count[s.of(one).ID]++
	}
	shown, left := s.Shown, map[uuid.UUID]int{}
	for _, one := range found {
		id := s.of(one).ID
		if count[id]++; count[id] > activity.MaxOfOne {
			left[id]++
		} else {
			shown = append(shown, one)
		}
	}
	if len(shown) > maxEntries {
		return false
	}
	s.Shown = shown
	for _, known := range s.Left {
		known.N += left[known.ID]
		delete(left, known.ID)
	}
	for _, one := range found {
		if agent := s.of(one); left[agent.ID] > 0 {
			s.Left = append(s.Left, &leftOut{agent, left[agent.ID], s.all(agent)})
			delete(left, agent.ID)
		}
	}
	return true
}

// read adds a page of a list, and while there is room and further is set the pages after it, since one agent can fill many.
func (s *spread[T]) read(
	ctx context.Context, number page.Param, further bool, at func(page string) string,
	read func(context.Context, page.Param) ([]T, page.Meta, error),
) error {
	for reads := 1; ; reads++ {
		found, meta, err := read(ctx, number)
		if err != nil || !s.add(found) { // the next page begins with what had no room
			return err
		}
		next := newPager(meta, at)
		if reads == 1 {
			s.Pager = next
		}
		s.Pager.Further = next.Further
		if meta.NextPage == nil || !further || reads == maxReads {
			return nil
		}
		number = page.Param{strconv.Itoa(*meta.NextPage)}
	}
}
