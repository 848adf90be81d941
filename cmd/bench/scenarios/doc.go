// Package scenarios is the table of what is measured: for each hot path, how an agent does it over HTTP, and the same as bare SQL.
package scenarios
