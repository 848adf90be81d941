package socket

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"
)

const (
	// agentsPerNotice is how many agents fit into the 8000 bytes of a notification.
	agentsPerNotice = 200
	// maxQueued is how many notices the queue holds; if there are more, one notice for everyone replaces them.
	maxQueued = 50_000
)

// queued is a notice: a word, and the agent that it concerns; uuid.Nil if it concerns no agent.
type queued struct {
	word  string
	agent uuid.UUID
}

// peerQueue holds the notices for the other processes while a statement runs or the connection is lost.
type peerQueue struct {
	mu      sync.Mutex
	notices map[queued]struct{}
	// alone: there is no other process, so nothing is queued.
	alone bool
	// waiting holds a token while there is something to send.
	waiting chan struct{}
}

// add queues a notice about each agent.
func (q *peerQueue) add(word string, agents ...uuid.UUID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.alone {
		return
	}
	if len(q.notices)+len(agents) > maxQueued {
		q.notices, word, agents = nil, wordEveryone, []uuid.UUID{uuid.Nil}
	}
	if q.notices == nil {
		q.notices = make(map[queued]struct{})
	}
	for _, agent := range agents {
		q.notices[queued{word, agent}] = struct{}{}
	}
	notify(q.waiting)
}

func (q *peerQueue) setAlone(alone bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.alone = alone
}

// take empties the queue and returns the statements that send it.
func (q *peerQueue) take(process int32) (statements []string) {
	q.mu.Lock()
	taken := q.notices
	q.notices = nil
	q.mu.Unlock()
	agents := make(map[string][]string)
	for one := range taken {
		agents[one.word] = append(agents[one.word], one.agent.String())
	}
	for _, word := range slices.Sorted(maps.Keys(agents)) {
		for some := range slices.Chunk(agents[word], agentsPerNotice) {
			statements = append(statements, notice(process, word, some...))
		}
	}
	return statements
}

// notice returns the statement that sends a notice. Its words need no quoting.
func notice(process int32, word string, agents ...string) string {
	return "SELECT pg_notify('" + channel + "', '" + strconv.Itoa(int(process)) + " " + word + " " + strings.Join(agents, " ") + "')"
}
