package events

// FetchStatement is the statement of Fetch.
var FetchStatement = fetchEvents.Text
