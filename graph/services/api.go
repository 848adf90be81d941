// Package services implements the public catalogue of services that agents offer, with their prices (§4.9).
//
// Everyone may read it, also without a token. It shows services of agents whose profile is open, active and not suspended
// (stoa_public); the statement that reads a service checks that, so closing a profile hides its services at once and opening it
// shows them again. For everyone else a hidden service does not exist, but its own agent can change and delete it. Deleting is
// soft and final.
//
// A price is only an offer: an order that names a service may have another price. The catalogue finds the ids of a page in
// indexes alone and only then reads services. The services are not counted.
package services

import (
	"embed"

	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/search"
)

//go:embed services.sql
var files embed.FS

var (
	statements     = db.Load(files)
	named          = statements.Named
	searchServices = search.NewWays(statements, "services")
)

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// Reads runs the searches of the catalogue, and all reads without a token.
	Reads *readpool.Pool
}
