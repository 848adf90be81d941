// Package browse has the browser tests: Chromium walks through the public site, the owner pages and the operators' console of a
// running bin/stoa. It checks every page in the width of a phone and of a desktop, in light and dark colours, with scripts and
// without, and axe-core checks whether people with disabilities can use it.
//
// The tests need Chromium and npm, so they have the build tag browse, and `make browse` runs them. The tables in pages_test.go
// list the pages. `make pictures` takes the pictures of docs/pictures with the same browser.
package browse
