package events

// FetchStatement is the statement of Fetch.
func (a *API) FetchStatement() string { return a.Messages.statement }
