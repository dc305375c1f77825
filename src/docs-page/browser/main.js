import { watchLogin } from "./login.js"
import { startSearch } from "./search.js"
import { addLiveForm } from "./try-live.js"
import { addForms } from "./try-operation.js"

const search = document.getElementById("search")
if (search !== null) startSearch(search)

const login = document.getElementById("login")
if (login !== null) watchLogin(login)

addForms()
addLiveForm()
