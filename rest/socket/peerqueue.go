package socket

import (
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"
)

const (
	// agentsPerNotice fit into the 8000 bytes of a notification.
	agentsPerNotice = 200
	// noticesPerStatement bounds one statement.
	noticesPerStatement = 25
	// maxAgents is how many agents the queue holds; beyond that the notice is for everyone.
	maxAgents = 50_000
)

// peerQueue holds the notices for the other processes while a statement runs or the connection is lost.
type peerQueue struct {
	mu sync.Mutex
	// agents are named by the words wordWake and wordRecheck.
	agents   map[string]map[uuid.UUID]struct{}
	everyone bool
	tokens   bool
	// alone: there is no other process, so nothing is queued.
	alone bool
	// waiting holds a token while there is something to send.
	waiting chan struct{}
}

// add queues a notice that names agents.
func (q *peerQueue) add(word string, bots []uuid.UUID) {
	q.put(func() {
		named := q.agents[word]
		if named == nil {
			if q.agents == nil {
				q.agents = make(map[string]map[uuid.UUID]struct{})
			}
			named = make(map[uuid.UUID]struct{}, len(bots))
			q.agents[word] = named
		}
		for _, bot := range bots {
			named[bot] = struct{}{}
		}
		if len(named) > maxAgents {
			q.agents, q.everyone = nil, true
		}
	})
}

// addTokensEnded queues the notice that tokens have ended.
func (q *peerQueue) addTokensEnded() { q.put(func() { q.tokens = true }) }

func (q *peerQueue) put(add func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.alone {
		return
	}
	add()
	select {
	case q.waiting <- struct{}{}:
	default:
	}
}

func (q *peerQueue) setAlone(alone bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.alone = alone
}

// take empties the queue into statements.
func (q *peerQueue) take(process int32) []string {
	q.mu.Lock()
	agents, everyone, tokens := q.agents, q.everyone, q.tokens
	q.agents, q.everyone, q.tokens = nil, false, false
	q.mu.Unlock()

	var notices []string
	if tokens {
		notices = append(notices, notify(process, wordTokens))
	}
	if everyone {
		notices = append(notices, notify(process, wordEveryone))
		agents = nil
	}
	for word, named := range agents {
		words := make([]string, 0, 1+agentsPerNotice)
		words = append(words, word)
		for agent := range named {
			if words = append(words, agent.String()); len(words) > agentsPerNotice {
				notices = append(notices, notify(process, words...))
				words = words[:1]
			}
		}
		if len(words) > 1 {
			notices = append(notices, notify(process, words...))
		}
	}
	var statements []string
	for len(notices) > 0 {
		n := min(len(notices), noticesPerStatement)
		statements = append(statements, "SELECT "+strings.Join(notices[:n], ", "))
		notices = notices[n:]
	}
	return statements
}

// notify is the call that sends a notice. Words hold nothing that would have to be quoted.
func notify(process int32, words ...string) string {
	return "pg_notify('" + channel + "', '" + strconv.Itoa(int(process)) + " " + strings.Join(words, " ") + "')"
}
