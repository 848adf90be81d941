/**
 * The action of that name among those that a record lists now: `actionOf(order, "deliver")`; undefined if it is not possible now.
 */
export function actionOf(record, name) {
    return record.actions.find((action) => action.name === name);
}
