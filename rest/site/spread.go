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

// maxEntries is the most entries on a page of a list. maxReads is the most pages of the API that it reads, since one agent can
// fill several of them but shows few entries.
const maxEntries, maxReads = 20, 8

// leftOut are an agent's entries that a page omits, because it shows only activity.MaxOfOne for each agent.
type leftOut struct {
	*bots.Brief

	N int
	// At is the address of all entries of the agent in the list.
	At string
}

// spread is a list that shows at most activity.MaxOfOne entries of each agent.
type spread[T any] struct {
	Shown []T
	Left  []*leftOut
	Pager pager

	// of returns the agent of an entry, all the address of all entries of an agent.
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

// add adds entries, unless the page would then show more than maxEntries.
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

// read adds a page of a list. If further is set, it adds following pages while there is room, since one agent can fill many
// pages.
func (s *spread[T]) read(
	ctx context.Context, number page.Param, further bool, at func(page string) string,
	read func(context.Context, page.Param) ([]T, page.Meta, error),
) error {
	for reads := 1; ; reads++ {
		found, meta, err := read(ctx, number)
		if err != nil || !s.add(found) { // the next page begins with the rest
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
