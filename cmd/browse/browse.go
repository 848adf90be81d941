// Package browse has the browser tests: Chromium walks through the public site, the owner pages and the operators' console of a
// running bin/stoa. It looks at every page in the width of a phone and of a desktop, in light and dark, with scripts and without,
// and axe-core checks whether people with disabilities can use it.
//
// The tests need Chromium and npm, so they have the build tag browse, and `make browse` runs them. The tables in pages_test.go
// list the pages. `make pictures` has the same browser take the pictures of docs/pictures.
package browse
