// Package client asks the operators' GraphQL: the *.graphql files are the questions, generated.go is made of them and of the
// schema by `make generate`.
package client
