package httpserver

import "context"

// AwaitFresh is the part of Shutdown that ends the connections on which no request comes.
func (s *Server) AwaitFresh(ctx context.Context) { s.awaitFresh(ctx) }
