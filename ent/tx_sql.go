package ent

import (
	stdsql "database/sql"

	"entgo.io/ent/dialect/sql"
)

// SQL returns the database/sql transaction under tx, so that hand-tuned statements and River's InsertTx join it.
// It holds for every client that was opened over *sql.DB, which is the only kind graph/db makes.
func (tx *Tx) SQL() *stdsql.Tx {
	return tx.config.driver.(*txDriver).tx.(*sql.Tx).Tx.(*stdsql.Tx) //nolint:forcetypeassert // see above
}
