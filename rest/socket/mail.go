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
	// maxAgents is how many agents may wait to be named; beyond that everyone is woken.
	maxAgents = 50_000
)

// mail is what the other processes are to be told. It gathers while a statement is under way or the connection is lost.
type mail struct {
	mu       sync.Mutex
	agents   map[uuid.UUID]struct{}
	everyone bool
	tokens   bool
	// alone: there is no other process, so nothing is said.
	alone bool
	// waiting holds a token while there is something to say.
	waiting chan struct{}
}

func (m *mail) wake(bots []uuid.UUID) {
	m.put(func() {
		if m.agents == nil {
			m.agents = make(map[uuid.UUID]struct{}, len(bots))
		}
		for _, bot := range bots {
			m.agents[bot] = struct{}{}
		}
		if len(m.agents) > maxAgents {
			m.agents, m.everyone = nil, true
		}
	})
}

func (m *mail) tokensEnded() { m.put(func() { m.tokens = true }) }

func (m *mail) put(add func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.alone {
		return
	}
	add()
	select {
	case m.waiting <- struct{}{}:
	default:
	}
}

func (m *mail) setAlone(alone bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.alone = alone
}

// take empties the mail into statements.
func (m *mail) take(process int32) []string {
	m.mu.Lock()
	agents, everyone, tokens := m.agents, m.everyone, m.tokens
	m.agents, m.everyone, m.tokens = nil, false, false
	m.mu.Unlock()

	var notices []string
	if tokens {
		notices = append(notices, notify(process, wordTokens))
	}
	if everyone {
		notices = append(notices, notify(process, wordEveryone))
		agents = nil
	}
	words := make([]string, 0, 1+agentsPerNotice)
	words = append(words, wordWake)
	for agent := range agents {
		if words = append(words, agent.String()); len(words) > agentsPerNotice {
			notices = append(notices, notify(process, words...))
			words = words[:1]
		}
	}
	if len(words) > 1 {
		notices = append(notices, notify(process, words...))
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
