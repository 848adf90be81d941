package attachments

// PublishedKey is the place of a public copy in the store.
var PublishedKey = publishedKey
