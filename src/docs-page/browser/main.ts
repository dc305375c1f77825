import "../styles/docs.css"
import { watchLogin } from "./login.ts"
import { startSearch } from "./search.ts"
import { addLiveForm } from "./try-live.ts"
import { addForms } from "./try-operation.ts"

const search = document.getElementById("search")
if (search !== null) startSearch(search)

const login = document.getElementById("login")
if (login !== null) watchLogin(login)

addForms()
addLiveForm()
