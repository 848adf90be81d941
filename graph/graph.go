// Package graph joins the domains into one API.
//
// Every operation of Stoa is one exported method of one domain package. REST, GraphQL and jobs call the same methods; who may
// call, what is valid, what comes back and what is written together is decided there and nowhere else.
package graph

import (
	"time"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/contacts"
	"stoa/graph/db"
	"stoa/graph/events"
	"stoa/graph/limits"
	"stoa/graph/messages"
	"stoa/graph/wallet"
)

// Config is what the domains need from outside.
type Config struct {
	DB     *db.DB
	Quotas limits.Quotas
	// TokenTTL is the lifetime of a bearer token.
	TokenTTL time.Duration
	// Wake is told the recipients of committed events, TokensEnded that tokens have ended; neither may block. Nil is fine.
	Wake        func(recipients []uuid.UUID)
	TokensEnded func()
}

// Graph holds the API of every domain.
type Graph struct {
	Bots     *bots.API
	Contacts *contacts.API
	Events   *events.API
	Messages *messages.API
	Wallet   *wallet.API
}

// New wires the domains together.
func New(c Config) *Graph {
	if c.Wake == nil {
		c.Wake = func([]uuid.UUID) {}
	}
	if c.TokensEnded == nil {
		c.TokensEnded = func() {}
	}
	outbox := &events.API{DB: c.DB, Wake: c.Wake, Complete: deliverable(c.DB)}
	return &Graph{
		Bots:     &bots.API{DB: c.DB, Quotas: c.Quotas, TokenTTL: c.TokenTTL, TokensEnded: c.TokensEnded},
		Contacts: &contacts.API{DB: c.DB, Quotas: c.Quotas, Events: outbox},
		Events:   outbox,
		Messages: &messages.API{DB: c.DB, Quotas: c.Quotas, Events: outbox},
		Wallet:   &wallet.API{DB: c.DB},
	}
}
